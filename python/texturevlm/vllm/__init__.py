# SPDX-License-Identifier: Apache-2.0
"""A plugin of vLLM: a Qwen3-VL that gives its encoder and its language model only the tokens of an image that matter.

    llm = vllm.LLM("Qwen/Qwen3-VL-8B-Instruct",
                   hf_overrides={"architectures": ["TexturevlmQwen3VLForConditionalGeneration"]},
                   mm_processor_kwargs={"texturevlm": {"share": 0.3, "strategy": "budget"}})

vLLM finds `register` by the entry point `vllm.general_plugins`; nothing changes for models that do not ask for the architecture
above. Settings are those of `texturevlm.hf.select_tokens`: share (default: 0.25), k, strategy; of the engine, and of a request where
it gives `mm_processor_kwargs` of its own, of which None takes back what the engine says. The document is doc/vllm.md in the project's
repository; it says what was run.

Chosen are tokens of images; videos are vLLM's own. An image keeps at least as many tokens as its longer side has, so that no
position lies beyond the prompt's length, for which vLLM has room.
"""
from __future__ import annotations

from .._core import DeviceError

# The releases of vLLM whose interfaces this was written for: inner ones, which change from release to release.
SUPPORTED = ("0.33.0",)
ARCHITECTURE = "TexturevlmQwen3VLForConditionalGeneration"


def check_version() -> None:
    """Refuses a vLLM that this was not written for: `DeviceError`."""
    import vllm
    if vllm.__version__.split("+")[0] not in SUPPORTED:
        raise DeviceError(f"not supported: texturevlm.vllm needs vLLM {', '.join(SUPPORTED)}, this is {vllm.__version__}")


def register() -> None:
    """Tells vLLM of the architecture. With another version of vLLM it says so, and the architecture is refused when it is asked for;
    other models are not concerned."""
    from vllm import ModelRegistry
    from vllm.logger import init_logger
    try:
        check_version()
    except DeviceError as error:
        init_logger("vllm.texturevlm").warning("%s", error)
    # By name: vLLM imports models when it needs them.
    ModelRegistry.register_model(ARCHITECTURE, "texturevlm.vllm._model:PrunedQwen3VL")


__all__ = ["ARCHITECTURE", "SUPPORTED", "check_version", "register"]
