#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/features.py: dense features of images and vectors of questions, for `tvlm select --features F.npy --query Q.npy`.

    tools/features.py --model transformers:openai/clip-vit-base-patch16 photo.jpg -o F.npy
    tools/features.py --model open_clip:ViT-B-16:laion2b_s34b_b88k --text "a photo of a boat" --query Q.npy photo.jpg -o F.npy
    tools/features.py --model transformers:google/siglip-base-patch16-512 photos/*.jpg -o FOLDER

F.npy is rows x columns x D, one vector for each patch of the encoder, over the whole image; Q.npy is questions x D, in the
same space. The image keeps its proportions up to whole patches: its shorter side becomes --size pixels (default: what the
model was trained on), and the position embeddings are stretched to the grid that results (bicubic).

CLIP was trained to compare texts with one token only, so its other tokens align poorly with texts. Taken instead, as in
MaskCLIP (Zhou et al., ECCV 2022), is the value path of the last layer: each patch's value through the attention's output
projection, without attending, without residual and MLP, then the final norm and the projection. SigLIP pools its tokens by
an attention of its own, and they are taken as they are, behind the final norm; so are SigLIP2's, of the models of one size (which
transformers takes for SigLIP's) and of NaFlex.

Needs numpy, Pillow, torch, and open_clip_torch (with timm for SigLIP) or transformers. Vision transformers only.
"""
import argparse
import os
import sys
import tempfile

import numpy as np

CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


class Failure(Exception):
    """One line for the user."""


def stretched(positions, rows, columns):
    """Position embeddings [n * n, width] of a square grid, for one of rows x columns."""
    import torch
    side = int(round(positions.shape[0] ** 0.5))
    if side * side != positions.shape[0]:
        raise Failure("the model's %d position embeddings are not a square grid" % positions.shape[0])
    if (rows, columns) == (side, side):
        return positions
    grid = positions.reshape(1, side, side, -1).permute(0, 3, 1, 2).float()
    grid = torch.nn.functional.interpolate(grid, (rows, columns), mode="bicubic", align_corners=False)
    return grid.permute(0, 2, 3, 1).reshape(rows * columns, -1).to(positions.dtype)


def patches(convolution, pixels):
    """Patch embeddings [1, rows * columns, width] and the grid."""
    x = convolution(pixels)
    return x.flatten(2).transpose(1, 2), x.shape[2], x.shape[3]


# ---- transformers ----

def input_of(module, run):
    """What a module is given while `run` runs."""
    seen = []
    hook = module.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    try:
        run()
    finally:
        hook.remove()
    return seen[0]


class Transformers:
    """CLIPModel, SiglipModel or Siglip2Model."""

    def __init__(self, model, tokenizer=None, mean=None, std=None):
        self.model, self.tokenizer, self.vision = model.eval(), tokenizer, model.vision_model
        self.kind = model.config.model_type
        if self.kind not in ("clip", "siglip", "siglip2"):
            raise Failure("a model of type '%s'; clip, siglip and siglip2 are known" % self.kind)
        config = model.config.vision_config
        self.patch = config.patch_size
        self.side = self.patch * int(round(config.num_patches ** 0.5)) if self.kind == "siglip2" else config.image_size
        self.mean, self.std = (mean, std) if mean else (CLIP_MEAN, CLIP_STD) if self.kind == "clip" else ((0.5,) * 3,) * 2

    @classmethod
    def load(cls, name):
        from transformers import AutoImageProcessor, AutoModel, AutoTokenizer
        images = AutoImageProcessor.from_pretrained(name)
        return cls(AutoModel.from_pretrained(name), AutoTokenizer.from_pretrained(name), images.image_mean, images.image_std)

    def features(self, pixels):
        return {"clip": self.clip, "siglip": self.siglip, "siglip2": self.siglip2}[self.kind](pixels)

    def clip(self, pixels):
        import torch
        v, e = self.vision, self.vision.embeddings
        x, rows, columns = patches(e.patch_embedding, pixels)
        position = e.position_embedding.weight
        x = torch.cat([(e.class_embedding + position[0]).expand(1, 1, -1), x + stretched(position[1:], rows, columns)], 1)
        x = v.pre_layrnorm(x)  # transformers' own spelling
        last = v.encoder.layers[-1]
        x = input_of(last, lambda: v.encoder(inputs_embeds=x))
        x = last.self_attn.out_proj(last.self_attn.v_proj(last.layer_norm1(x[:, 1:])))
        return self.model.visual_projection(v.post_layernorm(x)).reshape(rows, columns, -1)

    def siglip(self, pixels):
        v, e = self.vision, self.vision.embeddings
        x, rows, columns = patches(e.patch_embedding, pixels)
        x = x + stretched(e.position_embedding.weight, rows, columns)
        return v.post_layernorm(v.encoder(inputs_embeds=x)[0]).reshape(rows, columns, -1)

    def siglip2(self, pixels):
        """NaFlex: the model takes patches, colours last, and stretches its positions itself."""
        import torch
        rows, columns = (side // self.patch for side in pixels.shape[2:])
        blocks = pixels.reshape(3, rows, self.patch, columns, self.patch).permute(1, 3, 2, 4, 0).reshape(1, rows * columns, -1)
        mask = torch.ones(blocks.shape[:2], dtype=torch.long, device=pixels.device)
        shape = torch.tensor([[rows, columns]], device=pixels.device)
        return self.vision(blocks, mask, shape).last_hidden_state.reshape(rows, columns, -1)

    def texts(self, texts):
        # SigLIP was trained with all texts filled up to their full length.
        length = {"max_length": self.model.config.text_config.max_position_embeddings, "truncation": True}
        tokens = self.tokenizer(texts, padding=True if self.kind == "clip" else "max_length", return_tensors="pt", **length)
        names = ("input_ids", "attention_mask") if self.kind == "clip" else ("input_ids",)
        found = self.model.get_text_features(**{name: tokens[name].to(self.model.device) for name in names})
        return getattr(found, "pooler_output", found)  # of transformers 5 an object


# ---- open_clip ----

class OpenClip:
    """A model with open_clip's own vision transformer (CLIP) or timm's (SigLIP)."""

    def __init__(self, model, tokenizer=None, mean=None, std=None):
        self.model, self.tokenizer, self.vision = model.eval(), tokenizer, model.visual
        v, trunk = self.vision, getattr(self.vision, "trunk", None)
        self.timm = trunk is not None and hasattr(trunk, "blocks") and getattr(trunk, "attn_pool", None) is not None
        if not self.timm and not (hasattr(v, "transformer") and getattr(v, "attn_pool", None) is None and v.proj is not None):
            raise Failure("a vision tower of class '%s'; CLIP's and SigLIP's vision transformers are known" % type(trunk or v).__name__)
        first = lambda value: value[0] if isinstance(value, (tuple, list)) else value
        self.patch = first(trunk.patch_embed.patch_size if self.timm else v.patch_size)
        self.side = self.patch * int(round(trunk.pos_embed.shape[1] ** 0.5)) if self.timm else first(v.image_size)
        self.mean, self.std = mean or CLIP_MEAN, std or CLIP_STD

    @classmethod
    def load(cls, name):
        import open_clip
        name, _, weights = name.partition(":")
        if not weights:
            raise Failure("open_clip:%s without weights; open_clip:%s:WEIGHTS takes a tag of open_clip or a file" % (name, name))
        model, _, transform = open_clip.create_model_and_transforms(name, pretrained=weights)
        normalise = next(t for t in transform.transforms if hasattr(t, "mean"))
        return cls(model, open_clip.get_tokenizer(name), tuple(normalise.mean), tuple(normalise.std))

    def features(self, pixels):
        return self.siglip(pixels) if self.timm else self.clip(pixels)

    def clip(self, pixels):
        import torch
        from torch.nn.functional import linear
        v = self.vision
        x, rows, columns = patches(v.conv1, pixels)
        position = v.positional_embedding
        x = torch.cat([(v.class_embedding + position[0]).expand(1, 1, -1), x + stretched(position[1:], rows, columns)], 1)
        x = v.ln_pre(x)
        first = getattr(v.transformer, "batch_first", False) or getattr(v.transformer.resblocks[0].attn, "batch_first", False)
        x = x if first else x.transpose(0, 1)
        for block in v.transformer.resblocks[:-1]:
            x = block(x)
        x = x if first else x.transpose(0, 1)
        last, width = v.transformer.resblocks[-1], x.shape[2]
        attention = last.attn
        x = linear(last.ln_1(x[:, 1:]), attention.in_proj_weight[2 * width:], attention.in_proj_bias[2 * width:])
        x = v.ln_post(last.ls_1(attention.out_proj(x)))
        return (x @ v.proj).reshape(rows, columns, -1)

    def siglip(self, pixels):
        trunk = self.vision.trunk
        x, rows, columns = patches(trunk.patch_embed.proj, pixels)
        x = trunk.norm_pre(trunk.patch_embed.norm(x) + stretched(trunk.pos_embed[0], rows, columns))
        return trunk.norm(trunk.blocks(x)).reshape(rows, columns, -1)

    def texts(self, texts):
        return self.model.encode_text(self.tokenizer(texts).to(next(self.model.parameters()).device))


# ---- Files ----

def open_image(path):
    """RGB as tvlm sees it: turned as EXIF says, on white."""
    from PIL import Image, ImageOps
    try:
        image = ImageOps.exif_transpose(Image.open(path))
        if "A" in image.getbands() or "transparency" in image.info:
            image = image.convert("RGBA")
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
        return image.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise Failure("%s: %s" % (path, error))


def prepare(image, encoder, size):
    """Pixels [1, 3, height, width] of whole patches, the shorter side about `size`."""
    import torch
    from PIL import Image
    scale = (size or encoder.side) / min(image.size)
    width, height = (max(1, round(side * scale / encoder.patch)) * encoder.patch for side in image.size)
    pixels = np.asarray(image.resize((width, height), Image.BICUBIC), np.float32) / 255
    pixels = (pixels - np.array(encoder.mean, np.float32)) / np.array(encoder.std, np.float32)
    return torch.from_numpy(np.ascontiguousarray(pixels.transpose(2, 0, 1)))[None]


def write(path, array):
    """Complete or not at all."""
    if not np.isfinite(array).all():
        raise Failure("%s: the model gives values that are not finite%s" % (
            path, "; --float32 has a wider range" if array.dtype == np.float16 else ""))
    try:
        handle, part = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".features-")
        try:
            with os.fdopen(handle, "wb") as file:
                np.save(file, array)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(part, 0o666 & ~mask)
            os.replace(part, path)
        except BaseException:
            os.unlink(part)
            raise
    except OSError as error:
        raise Failure("%s: %s" % (path, error.strerror))


def load(name):
    """'transformers:NAME-OR-FOLDER' or 'open_clip:ARCHITECTURE:WEIGHTS'."""
    family, _, rest = name.partition(":")
    kinds = {"transformers": Transformers, "open_clip": OpenClip}
    if family not in kinds or not rest:
        raise Failure("model '%s'; it is transformers:NAME or open_clip:NAME:WEIGHTS" % name)
    try:
        return kinds[family].load(rest)
    except ImportError as error:
        raise Failure("model '%s': %s" % (name, error))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise Failure("model '%s': %s" % (name, (str(error).strip() or type(error).__name__).splitlines()[0]))


def outputs(images, out):
    """One file, or one a photo in a folder."""
    if len(images) == 1 and not os.path.isdir(out):
        return [out]
    if not os.path.isdir(out):
        raise Failure("%s is no folder; %d images need one" % (out, len(images)))
    paths = [os.path.join(out, os.path.splitext(os.path.basename(image))[0] + ".npy") for image in images]
    for path in paths:
        if paths.count(path) > 1:
            raise Failure("two images would be written to %s" % path)
    return paths


def run(options):
    import torch
    if options.images and not options.output:
        raise Failure("images, but no -o for their features")
    if bool(options.text) != bool(options.query):
        raise Failure("--text and --query go together")
    if not options.images and not options.text:
        raise Failure("nothing to do: no image and no --text")
    if options.size is not None and options.size < 1:
        raise Failure("--size %d; it is at least 1" % options.size)
    files = outputs(options.images, options.output) if options.images else []
    encoder, kind = load(options.model), np.float32 if options.float32 else np.float16
    try:
        encoder.model.to(options.device)
    except (RuntimeError, AssertionError) as error:
        raise Failure("--device %s: %s" % (options.device, (str(error).strip() or type(error).__name__).splitlines()[0]))
    with torch.no_grad():
        for image, file in zip(options.images, files):
            features = encoder.features(prepare(open_image(image), encoder, options.size).to(options.device)).float().cpu().numpy()
            with np.errstate(over="ignore"):
                write(file, features.astype(kind))
            print("%s: %d x %d x %d" % ((file,) + features.shape), file=sys.stderr)
        if options.text:
            vectors = encoder.texts(options.text).float().cpu().numpy()
            write(options.query, vectors.astype(np.float32))
            print("%s: %d x %d" % ((options.query,) + vectors.shape), file=sys.stderr)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0].partition(": ")[2])
    parser.add_argument("images", nargs="*", metavar="IMAGE")
    parser.add_argument("--model", required=True, help="transformers:NAME-OR-FOLDER or open_clip:NAME:WEIGHTS")
    parser.add_argument("-o", "--output", metavar="F.npy|FOLDER", help="where features go; a folder for several images")
    parser.add_argument("--text", action="append", metavar="TEXT", help="a question; may be given several times")
    parser.add_argument("--query", metavar="Q.npy", help="where the questions' vectors go")
    parser.add_argument("--size", type=int, help="the image's shorter side in pixels (default: the model's own)")
    parser.add_argument("--device", default="cpu", help="where PyTorch runs the model: cpu (default), cuda, cuda:1, mps, ...")
    parser.add_argument("--float32", action="store_true", help="features as float32 (default: float16)")
    try:
        run(parser.parse_args(arguments))
    except Failure as failure:
        print("features.py: %s" % failure, file=sys.stderr)
        return 1
    except ImportError as error:
        print("features.py: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
