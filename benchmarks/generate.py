"""Make a tree of N ops out of the rules' bases and the examples, clean and faulty ones mixed, in several layouts, names changed.

    python benchmarks/generate.py FOLDER N

The same N gives the same tree. Ops lie in packages of up to 8 with a crate each, as suites do; every third op lies in a folder of
its own with wrapper, export and kernel side by side (the layout of the skill).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = 8
#: name of the base -> texts that make the op faulty: (file, old, new)
FAULTS: dict[str, list[tuple[str, str, str]]] = {
    "row_scale": [("row_scale.py", "torch.empty_like", "torch.zeros_like")],
    "gemm": [("gemm.py", "torch.empty", "torch.zeros")],
}
#: what the faulty example of `scale_residual` has not gone wrong yet, to ten faults that `--fix` mends: (file, old, new)
MORE_FAULTS = [
    ("wrapper.py", "    x = x.contiguous().view(-1)\n", "    x = x.reshape(-1)\n"),
    ("wrapper.py", "torch.zeros_like(x), x, residual", "torch.zeros_like(x), x.contiguous(), residual"),
    ("wrapper.py", "    check_rc(rc, _FFI_NAME)\n", ""),
    ("wrapper.py", "    float alpha, int32_t block,", "    int32_t block, float alpha,"),
    ("wrapper.py", "    shape = x.shape\n", "    shape = x.shape  # cutile-lint: ignore[CTL106] not needed\n"),
    ("ffi.rs", " || x.is_null() || residual.is_null()", ""),
]


def templates() -> list[tuple[str, dict[str, str]]]:
    """(name of the op in the texts, files of the op by path): clean and faulty ones in turn."""
    found: list[tuple[str, dict[str, str]]] = []
    for base in sorted(FAULTS):
        clean = _read(ROOT / "rules" / "bases" / base)
        faulty = dict(clean)
        for path, old, new in FAULTS[base]:
            faulty[path] = faulty[path].replace(old, new)
        found += [(base, clean), (base, faulty)]
    for twin in ("clean", "faulty"):
        found.append(("scale_residual", _read(ROOT / "examples" / twin / "skill" / "scale_residual")))
    return found


def _read(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in (".py", ".rs", ".toml"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def generate(folder: Path, count: int) -> int:
    """Write the tree; returns the number of files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".git").mkdir(exist_ok=True)
    made = templates()
    written = 0
    merged = {"lib.rs": _libraries, "__init__.py": _packages}
    together: dict[Path, list[str]] = {}
    for number in range(count):
        name, files = made[number % len(made)]
        new = f"{name}_{number:04d}"
        package = folder / f"{name}_suite_{number // len(made) * 2 // PACKAGE:03d}" / "cutile_rs"
        in_own_folder = "wrapper.py" in files
        for path, text in files.items():
            text = re.sub(rf"(?<![A-Za-z]){name}(?![a-z])", new, text)
            if in_own_folder:
                target = package.parent / "ops" / new / path
            elif path.endswith(("lib.rs", "Cargo.toml")):
                target = package / path
            elif path in ("ffi_util.rs", "__init__.py"):
                target = package / path
            else:
                target = package / path.replace(name, new)
            if target.name in merged:
                together.setdefault(target, []).append(text)
                continue
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
                written += 1
    for path, texts in together.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(merged[path.name](texts), encoding="utf-8")
        written += 1
    return written


def ten_faults(folder: Path) -> None:
    """Write an op with ten faults that ``--fix`` mends; what is there is written over."""
    files = _read(ROOT / "examples" / "faulty" / "skill" / "scale_residual")
    for path, old, new in MORE_FAULTS:
        assert old in files[path], old
        files[path] = files[path].replace(old, new)
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")


def _libraries(texts: list[str]) -> str:
    """One crate root: the head of the first, then the modules of all."""
    modules = [text[text.index("\nmod ", text.index("mod ffi_util;")) :] for text in texts]
    head = texts[0].removesuffix(modules[0])
    return head + "".join(modules)


def _packages(texts: list[str]) -> str:
    """One package that imports every op."""
    return "\n".join(dict.fromkeys(line for text in texts for line in text.splitlines())) + "\n"


if __name__ == "__main__":
    print(generate(Path(sys.argv[1]), int(sys.argv[2])), "files")
