# SPDX-License-Identifier: Apache-2.0
"""The model within wrappers, and views of it: what a call sets is set on a view, never on the model that others call meanwhile.

A view of a model is a module that shares its parameters, its buffers and every submodule but some, which are copied, too: a few
small dictionaries each. Hooks and attributes of a view are its own. Whatever the model's own methods note on themselves while they
run (Qwen-VL's rope_deltas, generate's caches) stays on the view, and ends with it.
"""
from __future__ import annotations

import functools
import sys
import types
from collections.abc import Mapping
from typing import Any

import torch
import transformers

from .._core import ArgumentError, DeviceError


def unwrapped(model: Any) -> Any:
    """The model of transformers within torch.compile, PEFT's adapters, DataParallel and DistributedDataParallel; any other thing as it
    is."""
    while True:
        inner = _within(model)
        if inner is model:
            return model
        model = inner


def _within(model: Any) -> Any:
    if isinstance(model, (torch.nn.DataParallel, torch.nn.parallel.DistributedDataParallel)):
        return model.module
    dynamo: Any = sys.modules.get("torch._dynamo.eval_frame")  # nobody has one of its modules before it is imported
    if dynamo is not None and isinstance(model, dynamo.OptimizedModule):
        return model._orig_mod
    peft: Any = sys.modules.get("peft")
    if peft is not None and isinstance(model, (peft.PeftModel, peft.PeftMixedModel)):
        return _adapted(model)
    return _trained_whole(model) if peft is not None and type(model).__module__.startswith("peft.") else model


def _adapted(model: Any) -> Any:
    """The model within PEFT's, whose adapters are in its layers; refused are those that do something around it."""
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
    """Of a module that PEFT trains as a whole (modules_to_save) the copy that counts; any other thing of PEFT's as it is."""
    from peft.utils.other import ModulesToSaveWrapper  # type: ignore[import-not-found, unused-ignore]
    if not isinstance(module, ModulesToSaveWrapper):
        return module
    active = module.active_adapters
    if module.disable_adapters or not active or any(name not in module.modules_to_save for name in active):
        return module.original_module
    return module.modules_to_save[active[0]]


def sums_gradients(model: Any) -> bool:
    """Whether a wrapper of the model sums gradients over processes, which it does of its own forward only."""
    while not isinstance(model, torch.nn.parallel.DistributedDataParallel):
        inner = _within(model)
        if inner is model:
            return False
        model = inner
    return True


def check_gradients(summed: bool) -> None:
    """Refuses a call whose gradients a wrapper would have summed."""
    if summed and torch.is_grad_enabled():
        raise ArgumentError("a pruned batch goes past DistributedDataParallel, which would not sum its gradients: run it in "
                            "torch.no_grad(), or give the model that is within, and sum them yourself")


def check_adapters(options: Mapping[str, Any]) -> None:
    """Refuses what PEFT's own forward would do to the adapters for the time of a call."""
    if options.get("adapter_names") is not None:
        raise ArgumentError("adapter_names are read by PEFT's own forward, which a pruned batch goes past: set_adapter chooses one for all "
                            "rows")


def check_model(model: Any, generates: bool) -> None:
    """Refuses a model in a wrapper that is not known, since whatever it does would be left out. generates: and one without the head that
    answers, where a family has one."""
    if not isinstance(model, transformers.PreTrainedModel):
        raise ArgumentError(f"the model is a {type(model).__name__}, none of transformers; of wrappers torch.compile, PEFT's adapters, "
                            "DataParallel and DistributedDataParallel are known: give the model that is within")
    if generates and not model.can_generate():
        raise ArgumentError(f"the model is a {type(model).__name__}, which generates nothing: load it by AutoModelForImageTextToText")


def asks_for_layers(model: Any, options: Mapping[str, Any]) -> bool:
    """Whether a call asks for what single layers compute: then transformers watches them, by what it sets on them."""
    sources = [model.config, getattr(model.config, "text_config", None), getattr(model.config, "vision_config", None),
               getattr(model, "generation_config", None), options.get("generation_config")]
    return any(options.get(name) or any(getattr(source, name, None) for source in sources)
               for name in ("output_hidden_states", "output_attentions"))


def view_of(model: Any, path: str = "", below: int | None = None) -> list[Any]:
    """A view of the model, and one of each module on the path from it, whose names are separated by dots. below: the number of the
    view in this list under which all modules are copied, too; of an encoder, the last one, without PyTorch's own layers, which nobody
    watches there."""
    views = [_copied(model)]
    for name in path.split(".") if path else []:
        if name == "_orig_mod":  # within a compiled module, of which the view is that of the one within
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


# What of a module holds others and hooks.
_HELD = ("_modules", *(name for name, value in vars(torch.nn.Module()).items() if isinstance(value, dict) and "_hooks" in name))


def _copied(module: Any) -> Any:
    copy = object.__new__(type(module))
    own = copy.__dict__
    own.update(module.__dict__)
    for name in _HELD:
        own[name] = own[name].copy()
    own["_compiled_call_impl"] = None  # module.compile()'s, which calls the module that it was made of
    if "forward" in own:
        _rebind(module, copy)
    return copy


def _rebind(module: Any, copy: Any) -> None:
    """Lets what has replaced the forward of a module work on its copy."""
    own = copy.__dict__
    before = own["forward"]
    for name, value in list(own.items()):
        if name == "forward" or isinstance(value, (types.MethodType, functools.partial)):
            own[name] = _rebound(value, module, copy)
    if own["forward"] is before:
        raise DeviceError(f"not supported: the forward of the model's {type(module).__name__} was replaced by a "
                          f"{type(before).__name__}, which cannot be called for one request alone")


def _rebound(value: Any, module: Any, copy: Any) -> Any:
    """A method, or what replaced one (accelerate's hooks are partials), for the copy of its module; the value where it has none."""
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
        # torch.compile(model.forward) has compiled what the view may call as it is.
        original = getattr(value, "_torchdynamo_orig_callable", None)
        if value.__globals__.get("__name__") == "transformers.utils.generic":  # 4.57, while another thread watches this layer
            original = getattr(value, "__wrapped__", None)
        if original is not None and original is not value:
            return _rebound(original, module, copy)
    return value


def check_taken(taken: bool, what: str) -> None:
    """Fails where a call has gone past what the pictures go in by."""
    if not taken:
        raise DeviceError(f"the model answered without {what}: what replaces or wraps a part of it does not hand them on")
