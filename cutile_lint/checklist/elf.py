"""The dynamic symbols of an ELF library. The file is read as data: nothing of it is loaded or run."""

from __future__ import annotations

from pathlib import Path


class NotElf(Exception):
    """The file is no ELF library that can be read; the text says why."""


def exported_functions(path: Path) -> set[str]:
    """Names that ``nm -D`` shows with ``T`` or ``W``: functions which the library defines for others. Raises :class:`NotElf`."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    try:
        with open(path, "rb") as stream:
            table = ELFFile(stream).get_section_by_name(".dynsym")
            if not isinstance(table, SymbolTableSection):
                raise NotElf("it has no dynamic symbols")
            return {
                symbol.name
                for symbol in table.iter_symbols()
                if symbol["st_info"]["type"] == "STT_FUNC"
                and symbol["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK")
                and symbol["st_shndx"] != "SHN_UNDEF"
                and symbol["st_other"]["visibility"] in ("STV_DEFAULT", "STV_PROTECTED")
            }
    except OSError as error:
        raise NotElf(error.strerror or str(error)) from None
    except NotElf:
        raise
    except (ELFError, AssertionError, UnicodeDecodeError, ValueError, KeyError, IndexError, OverflowError, TypeError) as error:
        raise NotElf(str(error).split("\n")[0] or "it is not an ELF file") from None
