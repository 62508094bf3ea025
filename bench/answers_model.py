# SPDX-License-Identifier: Apache-2.0
"""answers_model.py: a Qwen2-VL of transformers' own class with under two million weights, and how it is trained on many questions at once.

Patches have 14 x 14 pixels, tokens 28 x 28. The vocabulary is that of bytes (examples/tiny_vlm.py). A prompt is
``<|vision_start|>image<|vision_end|>`` for each picture, then the question and a line's end; the answer ends with ``<|im_end|>``.
"""
import importlib.util
import os

import numpy as np
import torch
import transformers
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
PATCH, TOKEN = 14, 28
MOST = 400  # tokens of a picture
TEMPLATE = ("{% for message in messages %}{% for part in message['content'] %}{% if part['type'] == 'image' %}<|vision_start|>"
            "<|image_pad|><|vision_end|>{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endfor %}"
            "{% if add_generation_prompt %}{{ '\\n' }}{% endif %}")


def _tiny():
    spec = importlib.util.spec_from_file_location("tiny_vlm", os.path.join(HERE, "..", "examples", "tiny_vlm.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def processor_of():
    """The processor: Qwen2-VL's, which makes 1 to MOST tokens of an image."""
    tiny = _tiny()
    sizes = {"min_pixels": TOKEN**2, "max_pixels": MOST * TOKEN**2}
    images, videos = transformers.Qwen2VLImageProcessor(**sizes), transformers.Qwen2VLVideoProcessor(**sizes)
    return transformers.Qwen2VLProcessor(images, tiny.tokenizer_of(), videos, chat_template=TEMPLATE)


def model_of(processor, seed=0):
    """The model with random weights."""
    number = processor.tokenizer.convert_tokens_to_ids
    vision = {"depth": 3, "embed_dim": 96, "num_heads": 4, "mlp_ratio": 3, "hidden_size": 128, "patch_size": PATCH}
    rope = {"type": "mrope", "rope_type": "default", "mrope_section": [4, 6, 6]}
    text = {"rope_scaling": rope, "rope_theta": 10000.0, "hidden_size": 128, "intermediate_size": 320, "num_hidden_layers": 4,
            "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": len(processor.tokenizer), "max_position_embeddings": 4096,
            "tie_word_embeddings": True, "pad_token_id": number("<|endoftext|>"), "bos_token_id": number("<|endoftext|>"),
            "eos_token_id": number("<|im_end|>")}
    places = {"image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>", "vision_start_token_id": "<|vision_start|>",
              "vision_end_token_id": "<|vision_end|>"}
    config = transformers.Qwen2VLConfig(vision_config=vision, text_config=text, tie_word_embeddings=True,
                                        **{name: number(word) for name, word in places.items()})
    torch.manual_seed(seed)
    return transformers.Qwen2VLForConditionalGeneration(config)


# ---- What a picture gives the encoder ----

MEAN, DEVIATION = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)


class View:
    """A picture as the model gets it: patches of the kept tokens, and where these are.

    picture: uint8 [height, width, 3], sides in whole tokens. keep: bool [rows, columns], or None for all.
    box: the part of the scene that it shows: left, top, right, bottom in the scene's pixels.
    patches: uint8 [tokens, 4, 3, 14, 14].
    """

    def __init__(self, picture, box, keep=None):
        rows, columns = picture.shape[0] // TOKEN, picture.shape[1] // TOKEN
        self.grid = rows, columns
        self.keep = np.flatnonzero(np.ones(rows * columns, bool) if keep is None else keep.reshape(-1))
        tokens = picture.reshape(rows, 2, PATCH, columns, 2, PATCH, 3).transpose(0, 3, 1, 4, 6, 2, 5)  # row column y x channel
        self.patches = tokens.reshape(rows * columns, 4, 3, PATCH, PATCH)[self.keep]
        row, column = self.keep // columns, self.keep % columns
        self.row, self.column = row, column
        wide, high = (box[2] - box[0]) / columns, (box[3] - box[1]) / rows
        self.centres = np.stack([box[0] + (column + .5) * wide, box[1] + (row + .5) * high], 1)
        self.span = max(wide, high)

    def __len__(self):
        return len(self.keep)


def resized(picture, columns, rows, box=None):
    """A part of a picture (all of it, if box is None) at so many tokens."""
    return np.asarray(Image.fromarray(picture).resize((columns * TOKEN, rows * TOKEN), Image.BICUBIC, box))


class Tensors:
    """Tensors, by name, that go to a device together."""

    def to(self, device):
        for name, value in vars(self).items():
            if isinstance(value, torch.Tensor):
                setattr(self, name, value.to(device, non_blocking=True))
        return self


class Views(Tensors):
    """What the encoder needs of several views, one after the other.

    patches: uint8 [tokens, 4, 3, 14, 14]. at: row and column of each patch [patches, 2]. ends: patches before each view, and of all.
    """

    def __init__(self, views):
        self.patches = torch.from_numpy(np.concatenate([view.patches for view in views]))
        inside = np.arange(4)
        self.at = torch.from_numpy(np.concatenate([
            np.stack([2 * view.row[:, None] + inside // 2, 2 * view.column[:, None] + inside % 2], -1).reshape(-1, 2) for view in views]))
        self.ends = torch.tensor([0] + [4 * len(view) for view in views]).cumsum(0).int()
        self.lengths = self.ends.diff().tolist()


def encode(model, views):
    """The features of all views' kept tokens, one after the other: [tokens, hidden]. Each view attends within itself."""
    visual = model.model.visual
    views = (views if isinstance(views, Views) else Views(views)).to(next(visual.parameters()).device)
    mean, deviation = (torch.tensor(value, device=views.at.device)[:, None, None] for value in (MEAN, DEVIATION))
    patches = (views.patches / 255 - mean) / deviation
    weight = visual.patch_embed.proj.weight.sum(2)  # both frames of a still picture are equal
    hidden = patches.reshape(-1, 3 * PATCH * PATCH) @ weight.reshape(weight.shape[0], -1).T
    turns = (views.at[..., None] * visual.rotary_pos_emb.inv_freq).flatten(1)
    turns = torch.cat((turns, turns), -1)
    if views.at.is_cuda:
        hidden = _at_once(visual.blocks, hidden, views.lengths, turns)
    else:
        for block in visual.blocks:
            hidden = block(hidden, cu_seqlens=views.ends, position_embeddings=(turns.cos(), turns.sin()))
    return visual.merger(hidden)


def _at_once(blocks, hidden, lengths, turns):
    """What the blocks do, with the attention of all views in one call, each filled up to the longest: transformers calls one for each
    view, of which a GPU sees many short ones."""
    longest = max(lengths)
    there = (torch.arange(longest) < torch.tensor(lengths)[:, None]).to(hidden.device)  # [views, longest]
    cosine, sine = turns.cos()[:, None], turns.sin()[:, None]

    def turned(values):
        first, second = values.chunk(2, -1)
        return values * cosine + torch.cat((-second, first), -1) * sine

    def filled(values):
        return values.new_zeros(*there.shape, *values.shape[1:]).masked_scatter(there[..., None, None], values).transpose(1, 2)

    for block in blocks:
        attention = block.attn
        query, key, value = attention.qkv(block.norm1(hidden)).unflatten(1, (3, attention.num_heads, -1)).unbind(1)
        found = torch.nn.functional.scaled_dot_product_attention(filled(turned(query)), filled(turned(key)), filled(value), there[:, None, None])
        hidden = hidden + attention.proj(found.transpose(1, 2)[there].flatten(1))
        hidden = hidden + block.mlp(block.norm2(hidden))
    return hidden


# ---- Many questions about the same pictures, in one row ----

class Row:
    """The tokens of a scene: its pictures once, then each question with its answer, which sees the pictures and itself."""

    def __init__(self, processor, views, asked):
        tokenizer = processor.tokenizer
        number = tokenizer.convert_tokens_to_ids
        self.ids, self.segments, self.positions, self.wanted = [], [], [], []
        at = 0
        for view in views:
            self._add([number("<|vision_start|>")], 0, [(at, at, at)])
            at += 1
            self._add([number("<|image_pad|>")] * len(view), 0, [(at, at + int(r), at + int(c)) for r, c in zip(view.row, view.column)])
            at += max(view.grid)
            self._add([number("<|vision_end|>")], 0, [(at, at, at)])
            at += 1
        self.asked = []
        for segment, (question, answer) in enumerate(asked, 1):
            words, said = tokenizer.encode(question + "\n"), tokenizer.encode(answer) + [number("<|im_end|>")]
            first = len(self.ids) + len(words)
            self._add(words + said, segment, [(at + i,) * 3 for i in range(len(words) + len(said))], [-100] * (len(words) - 1) + said + [-100])
            self.asked.append((first - 1, said))

    def _add(self, ids, segment, positions, wanted=None):
        self.ids += ids
        self.segments += [segment] * len(ids)
        self.positions += positions
        self.wanted += wanted or [-100] * len(ids)


class Rows(Tensors):
    """Rows, padded at the end, as the language model takes them.

    ids, segments (-1: padding), wanted: [rows, length]. positions: [3, rows, length].
    """

    def __init__(self, processor, rows):
        number = processor.tokenizer.convert_tokens_to_ids
        self.length = max(len(row.ids) for row in rows)
        self.image = number("<|image_pad|>")
        self.ids = self._padded([row.ids for row in rows], number("<|endoftext|>"))
        self.segments = self._padded([row.segments for row in rows], -1)
        self.positions = self._padded([row.positions for row in rows], (0, 0, 0)).permute(2, 0, 1)
        self.wanted = self._padded([row.wanted for row in rows], -100)

    def _padded(self, lists, fill):
        return torch.tensor([list(one) + [fill] * (self.length - len(one)) for one in lists])

    def run(self, model, features, **options):
        self.to(features.device)
        embedded = model.model.language_model.embed_tokens(self.ids)
        embedded = embedded.masked_scatter((self.ids == self.image)[..., None], features)
        earlier = torch.ones(self.length, self.length, dtype=torch.bool, device=features.device).tril()
        sees = earlier & ((self.segments[:, None] == 0) | (self.segments[:, None] == self.segments[..., None]))
        mask = torch.zeros(sees.shape, device=features.device).masked_fill(~sees, torch.finfo(torch.float32).min)[:, None]
        return model.model.language_model(inputs_embeds=embedded, attention_mask={"full_attention": mask},
                                          position_ids=self.positions, use_cache=False, **options)


def hidden_of(model, processor, rows, features):
    """The last hidden states of the rows, [rows, length, hidden], and the token that is wanted behind each place, or -100."""
    batch = rows if isinstance(rows, Rows) else Rows(processor, rows)
    return batch.run(model, features).last_hidden_state, batch.wanted


def attention_of(model, processor, row, features, layer):
    """The attention of one layer: [heads, length, length]. For a model that was loaded with "eager"."""
    return Rows(processor, [row]).run(model, features, output_attentions=True).attentions[layer][0]
