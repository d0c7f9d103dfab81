"""Vendored files of other projects are unchanged and have their licence."""

from __future__ import annotations

from tools.vendor import ROOT, VENDORED, changed


def test_every_file_of_others_is_as_it_was_fetched_and_has_its_licence_beside_it() -> None:
    assert changed() == []
    for package in VENDORED:
        assert "LICENSE" in package.files
        folder = ROOT / package.folder
        assert {each.name for each in folder.iterdir()} == set(package.files), "nothing else is there"
        assert f"v{package.version}" in "".join(
            (folder / name).read_text(encoding="utf-8")[:200] for name in package.files if name.endswith(".js")
        )
