# SPDX-License-Identifier: Apache-2.0
"""A plugin of vLLM: a Qwen3-VL whose encoder and language model get only the tokens of images and videos that matter.

    llm = vllm.LLM("Qwen/Qwen3-VL-8B-Instruct",
                   hf_overrides={"architectures": ["TexturevlmQwen3VLForConditionalGeneration"]},
                   mm_processor_kwargs={"texturevlm": {"share": 0.3, "strategy": "budget"}})

vLLM finds `register` by the entry point `vllm.general_plugins`. Nothing changes for models that do not ask for the architecture
above.

The settings are those of `texturevlm.hf.select_tokens`: budget (of all images of a request), share, tolerance (default: "auto"), way,
k and strategy. The engine has settings, and a request may have `mm_processor_kwargs` of its own, which take precedence. A value of None
in a request takes back the value of the engine.

Videos are left to vLLM, unless there is a `video_share`: the share of each video's tokens that is kept, where their pixels differ
from what is held since an earlier frame. An image keeps at least as many tokens as its longer side has, and so does a video for
each of its slots. So no position lies beyond the length of the prompt, which is the room that vLLM has for it.

The document about this is doc/vllm.md in the project's repository. It says what was run.
"""
from __future__ import annotations

from .._core import DeviceError

# The releases of vLLM that this was written for. It uses inner interfaces, which change from release to release.
SUPPORTED = ("0.33.0",)
ARCHITECTURE = "TexturevlmQwen3VLForConditionalGeneration"


def check_version() -> None:
    """Raises a `DeviceError` for a release of vLLM that this was not written for."""
    import vllm
    if vllm.__version__.split("+")[0] not in SUPPORTED:
        raise DeviceError(f"not supported: texturevlm.vllm needs vLLM {', '.join(SUPPORTED)}, this is {vllm.__version__}")


def register() -> None:
    """Registers the architecture with vLLM.

    With an unsupported version of vLLM it logs a warning, and the architecture is refused when it is asked for. Other models are
    not affected.
    """
    from vllm import ModelRegistry
    from vllm.logger import init_logger
    try:
        check_version()
    except DeviceError as error:
        init_logger("vllm.texturevlm").warning("%s", error)
    # Registered by name, since vLLM imports a model only when it needs it.
    ModelRegistry.register_model(ARCHITECTURE, "texturevlm.vllm._model:PrunedQwen3VL")


__all__ = ["ARCHITECTURE", "SUPPORTED", "check_version", "register"]
