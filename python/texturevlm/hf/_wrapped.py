# SPDX-License-Identifier: Apache-2.0
"""Finds the model inside wrappers, and makes views of it.

What a call must set, it sets on a view, and never on the model, which others may call meanwhile.

A view of a model is a module that shares the model's parameters, buffers and most of its submodules. Some submodules are copied,
too; each copy is a few small dictionaries. The hooks and attributes of a view are its own. What the model's methods write on the
model while they run (Qwen-VL's rope_deltas, generate's caches) stays on the view, and ends with it.
"""
from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Mapping
from typing import Any

import torch
import transformers

from .._core import ArgumentError, DeviceError


def unwrapped(model: Any) -> Any:
    """The model of transformers inside torch.compile, PEFT's adapters, DataParallel and DistributedDataParallel.

    Any other object is returned as it is.
    """
    while True:
        inner = _within(model)
        if inner is model:
            return model
        model = inner


def _within(model: Any) -> Any:
    if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        return model.module
    dynamo: Any = sys.modules.get("torch._dynamo.eval_frame")  # if it was never imported, no compiled module can exist
    if dynamo is not None and isinstance(model, dynamo.OptimizedModule):
        return model._orig_mod
    peft: Any = sys.modules.get("peft")
    if peft is not None and isinstance(model, (peft.PeftModel, peft.PeftMixedModel)):
        return _adapted(model)
    return _trained_whole(model) if peft is not None and type(model).__module__.startswith("peft.") else model


def _adapted(model: Any) -> Any:
    """The model inside a model of PEFT. Its adapters must be in the model's layers; adapters that work around it are refused."""
    from peft.tuners.tuners_utils import BaseTuner  # type: ignore[import-not-found, unused-ignore]
    tuner, configs = model.base_model, list(model.peft_config.values())
    kind = configs[0].peft_type
    if not isinstance(tuner, BaseTuner) or type(tuner).forward is not BaseTuner.forward:
        raise ArgumentError(f"PEFT's {getattr(kind, 'value', kind)} does more than change the model's layers, and a pruned batch goes "
                            "past it; LoRA and the others that stay within layers are known")
    if any(getattr(config, "alora_invocation_tokens", None) for config in configs):
        raise ArgumentError("alora_invocation_tokens are looked for in the full prompt: such an adapter is not for a pruned batch")
    return tuner.model


def _trained_whole(module: Any) -> Any:
    """The active copy of a module that PEFT trains as a whole (modules_to_save). Other modules are returned as they are."""
    from peft.utils.other import ModulesToSaveWrapper  # type: ignore[import-not-found, unused-ignore]
    if not isinstance(module, ModulesToSaveWrapper):
        return module
    active = module.active_adapters
    if module.disable_adapters or not active or any(name not in module.modules_to_save for name in active):
        return module.original_module
    return module.modules_to_save[active[0]]


def sums_gradients(model: Any) -> bool:
    """Whether a wrapper of the model sums gradients over processes. It does so only if its own forward is called."""
    while not isinstance(model, torch.nn.parallel.DistributedDataParallel):
        inner = _within(model)
        if inner is model:
            return False
        model = inner
    return True


def check_gradients(summed: bool) -> None:
    """Refuses a call with gradients that a wrapper should have summed (`summed`)."""
    if summed and torch.is_grad_enabled():
        raise ArgumentError("a pruned batch goes past DistributedDataParallel, which would not sum its gradients: run it in "
                            "torch.no_grad(), or give the model that is within, and sum them yourself")


def check_adapters(options: Mapping[str, Any]) -> None:
    """Refuses an option by which PEFT's own forward changes the adapters for one call."""
    if options.get("adapter_names") is not None:
        raise ArgumentError("adapter_names are read by PEFT's own forward, which a pruned batch goes past: set_adapter chooses one for all "
                            "rows")


def check_model(model: Any, generates: bool) -> None:
    """Refuses a model in an unknown wrapper, since the work of that wrapper would be left out.

    With `generates`, also refuses a model without the head that generates.
    """
    if not isinstance(model, transformers.PreTrainedModel):
        raise ArgumentError(f"the model is a {type(model).__name__}, none of transformers; of wrappers torch.compile, PEFT's adapters, "
                            "DataParallel and DistributedDataParallel are known: give the model that is within")
    if generates and not model.can_generate():
        raise ArgumentError(f"the model is a {type(model).__name__}, which generates nothing: load it by AutoModelForImageTextToText")


def asks_for_layers(model: Any, options: Mapping[str, Any]) -> bool:
    """Whether a call asks for the output of single layers. To record it, transformers sets something on the layers."""
    sources = [model.config, getattr(model.config, "text_config", None), getattr(model.config, "vision_config", None),
               getattr(model, "generation_config", None), options.get("generation_config")]
    return any(options.get(name) or any(getattr(source, name, None) for source in sources)
               for name in ("output_hidden_states", "output_attentions"))


def view_of(model: Any, path: str = "", below: int | None = None) -> list[Any]:
    """Makes a view of the model, and one of each module on a path from it. The names on the path are separated by dots.

    `below` is the index of a view in the returned list. All modules below that view are copied, too. For an encoder it is -1, the
    last view; then PyTorch's own layers are not copied, since nobody records their output there.
    """
    views = [_copied(model)]
    for name in path.split(".") if path else []:
        if name == "_orig_mod":  # the module inside a compiled module: the view of the compiled one is already a view of it
            continue
        inner = views[-1]._modules.get(name)
        if inner is None:
            raise DeviceError(f"not supported: a {type(model).__name__} of transformers {transformers.__version__} has no {path}")
        views[-1]._modules[name] = copy = _copied(unwrapped(inner))
        views.append(copy)
    if below is not None:
        _copy_below(views[below], {id(view): view for view in views}, set(map(id, views)), below < 0)
    return views


def _copy_below(module: Any, known: dict[int, Any], copies: set[int], encoder: bool) -> None:
    for name, inner in module._modules.items():
        if inner is None or (encoder and not inner._modules and type(inner).__module__.startswith("torch.nn.modules.")):
            continue
        if id(inner) in copies:
            _copy_below(inner, known, copies, encoder)
        elif id(inner) not in known:
            known[id(inner)] = _copied(unwrapped(inner))
            _copy_below(known[id(inner)], known, copies, encoder)
        module._modules[name] = known[id(inner)]


# The attributes of a module that hold its submodules and hooks.
_HELD = ("_modules", *(name for name, value in vars(torch.nn.Module()).items() if isinstance(value, dict) and "_hooks" in name))


def _copied(module: Any) -> Any:
    copy = object.__new__(type(module))
    own = copy.__dict__
    own.update(module.__dict__)
    for name in _HELD:
        own[name] = own[name].copy()
    own["_compiled_call_impl"] = None  # set by module.compile(); it would call the original module
    if "forward" in own:
        _rebind(module, copy)
    return copy


def _rebind(module: Any, copy: Any) -> None:
    """Rebinds a function that has replaced the forward of a module, so that it works on the module's copy."""
    own = copy.__dict__
    before = own["forward"]
    for name, value in list(own.items()):
        if name == "forward" or isinstance(value, (types.MethodType, functools.partial)):
            own[name] = _rebound(value, module, copy)
    if own["forward"] is before:
        raise DeviceError(f"not supported: the forward of the model's {type(module).__name__} was replaced by a "
                          f"{type(before).__name__}, which cannot be called for one request alone")


def _rebound(value: Any, module: Any, copy: Any) -> Any:
    """A method of a module, or what replaced it (accelerate uses partials), bound to the module's copy. Other values stay."""
    if value is module:
        return copy
    if isinstance(value, types.MethodType):
        return types.MethodType(value.__func__, copy) if value.__self__ is module else value
    if isinstance(value, functools.partial):
        old = (value.func, *value.args, *value.keywords.values())
        called, *new = (_rebound(part, module, copy) for part in old)
        if all(a is b for a, b in zip(old, (called, *new))):
            return value
        count = len(value.args)
        made = functools.partial(called, *new[:count], **dict(zip(value.keywords, new[count:])))
        made.__dict__.update(value.__dict__)
        return made
    if isinstance(value, types.FunctionType):
        # After torch.compile(model.forward) this is the compiled function. The view calls the original function instead.
        original = getattr(value, "_torchdynamo_orig_callable", None)
        # In transformers 4.57 a layer has such a function while another thread records the layer's output.
        if value.__globals__.get("__name__") == "transformers.utils.generic":
            original = getattr(value, "__wrapped__", None)
        if original is not None and original is not value:
            return _rebound(original, module, copy)
    return value


def cache_name(model: Any) -> str:
    """The name by which a model takes a cache: transformers gives it another one in the fifth version."""
    return "cache" if "cache" in inspect.signature(inspect.unwrap(type(model).forward)).parameters else "past_key_values"


def check_taken(taken: bool, what: str) -> None:
    """Fails if a call did not use the hook or argument by which the pictures go in."""
    if not taken:
        raise DeviceError(f"the model answered without {what}: what replaces or wraps a part of it does not hand them on")
