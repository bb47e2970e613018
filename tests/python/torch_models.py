"""Small models with random weights: name → a function that makes the module, and one that makes its inputs."""

import torch
from torch import nn

SIZES = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4}
TEXT = {**SIZES, "vocab_size": 128, "bos_token_id": 1, "eos_token_id": 2}


def words(batch=2, length=16):
    return {"input_ids": torch.randint(3, 128, (batch, length))}


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.a, self.c = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
        self.b, self.d = (nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, x):
        return torch.relu(x + self.d(self.c(torch.relu(self.b(self.a(x))))))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        self.blocks, self.head = nn.Sequential(Block(16), Block(16)), nn.Linear(16, 10)

    def forward(self, x):
        return self.head(nn.functional.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1).flatten(1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down, self.inner = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(8, 8, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(8, 8, 2, 2), nn.Conv2d(11, 3, 1)
        self.norm = nn.GroupNorm(2, 8)

    def forward(self, x):
        h = nn.functional.silu(self.norm(self.down(x)))
        h = nn.functional.interpolate(nn.functional.avg_pool2d(self.inner(h), 2), scale_factor=2, mode="nearest") + h
        return self.last(torch.cat([self.up(h), x], 1))


def mlp():
    return nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 8))


def of(name, config, **settings):
    def make():
        import transformers

        return getattr(transformers, name)(getattr(transformers, config)(**settings))

    return make


def images():
    return {"pixel_values": torch.randn(2, 3, 32, 32)}


def sequences():
    return {**words(), "decoder_input_ids": torch.randint(3, 128, (2, 8))}


def sounds():
    return {"input_features": torch.randn(2, 16, 64), "decoder_input_ids": torch.randint(3, 128, (2, 8))}


GROUPED = {**TEXT, "num_key_value_heads": 2}
NARROW = {
    "d_model": 64,
    "vocab_size": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
WHISPER = {
    f"{part}_{what}": n
    for part in ("encoder", "decoder")
    for what, n in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 128))
}
MODELS = {
    "mlp": (mlp, lambda: {"input": torch.randn(4, 32)}),
    "resnet": (ResNet, lambda: {"x": torch.randn(2, 3, 32, 32)}),
    "unet": (UNet, lambda: {"x": torch.randn(2, 3, 16, 16)}),
    "bert": (of("BertModel", "BertConfig", **TEXT), words),
    "gpt2": (
        of(
            "GPT2LMHeadModel",
            "GPT2Config",
            n_embd=64,
            n_layer=2,
            n_head=4,
            vocab_size=128,
            n_positions=64,
            bos_token_id=1,
            eos_token_id=2,
        ),
        words,
    ),
    "llama": (of("LlamaForCausalLM", "LlamaConfig", **GROUPED), words),
    "qwen3": (of("Qwen3ForCausalLM", "Qwen3Config", head_dim=16, **GROUPED), words),
    "gemma2": (of("Gemma2ForCausalLM", "Gemma2Config", head_dim=16, **GROUPED), words),
    "vit": (of("ViTModel", "ViTConfig", image_size=32, patch_size=8, **SIZES), images),
    "t5": (
        of(
            "T5Model",
            "T5Config",
            dropout_rate=0.0,
            d_model=64,
            d_kv=16,
            d_ff=128,
            num_layers=2,
            num_heads=4,
            vocab_size=128,
        ),
        sequences,
    ),
    "whisper": (
        of("WhisperModel", "WhisperConfig", max_source_positions=32, num_mel_bins=16, **NARROW, **WHISPER),
        sounds,
    ),
}


def made(name, seed=0):
    """A module in training mode without dropout, and its inputs."""
    torch.manual_seed(seed)
    make, inputs = MODELS[name]
    module = make()
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    for parameter in module.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, 0, 0.1)
    return module.train(), inputs()
