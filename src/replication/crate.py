"""What was made from what, as a research object (RO-Crate 1.1): code, configuration, data, tables, figures.

The graph is read off the records that runs leave: every ``run.json`` becomes one action, from a script, a state of
the code, a configuration and data with their digests to tables, and from those to figures. Dates are those of the
code's commits, so the same results give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from rocrate.model import ContextEntity, Entity
from rocrate.rocrate import ROCrate

from replication import published
from replication.freshness import STAMPS, figures_record, figures_sidecar
from replication.machine import commit_date
from replication.sources import files_of_script

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
MIT = "https://spdx.org/licenses/MIT"
FORMATS = {".csv": "text/csv", ".md": "text/markdown", ".json": "application/json", ".png": "image/png"}
FORMATS |= {".html": "text/html", ".py": "text/x-python"}
FORMATS |= {".yaml": "application/yaml"}
dated = cache(commit_date)


class Recorder:
    """The graph of one project, filled run by run.

    Parameters
    ----------
    root : Path
        The project's top folder, which is the crate's.
    """

    def __init__(self, root: Path):
        self.root = root
        self.crate = ROCrate(version="1.1")
        self.dates: set[str] = set()

    def described(self, name: str, description: str, version: str) -> None:
        """Say what the whole is; to be called when every run is in."""
        profile = self._context(PROFILE, "CreativeWork", name="Process Run Crate", version="0.5")
        paper = self._context(published.ADDRESS, "ScholarlyArticle", name="The paper that is replicated")
        licence = self._context(MIT, "CreativeWork", name="MIT License")
        root = self.crate.root_dataset
        root["conformsTo"], root["license"], root["isBasedOn"] = profile, licence, paper
        root["name"], root["description"], root["version"] = name, description, version
        del root["datePublished"]  # the library's is the time of the call
        if self.dates:
            root["datePublished"] = max(self.dates)

    def run(self, record_file: Path) -> None:
        """Add a section's run, from what its ``run.json`` says."""
        record = json.loads(record_file.read_text())
        folder = record_file.parent.relative_to(self.root / "results")
        data = [self._data(name, source, record) for name, source in record["data"].items()]
        tables = self._tables(record_file.parent, record["files"], data)
        inputs = [self._code(record["machine"]["commit"]), *self._config(record), *data]
        figures = self._figures(self.root / "figures" / folder, tables)
        action = self._action(f"#run-{folder.as_posix()}", record["section"], inputs, [*tables, *figures])
        record_entity = self.file(record_file, description="Configuration, data, versions, machine and digests")
        action["subjectOf"] = record_entity
        if record["surrogate"]:
            action["description"] = "surrogate: on simulated stand-ins for the data"

    def audit(self, sidecar: Path) -> None:
        """Add the audit, which reads every table and the paper's numbers."""
        made = json.loads(sidecar.read_text())["files"]
        printed = sorted((self.root / "src/replication/published_tables").glob("*.csv"))
        written = [self.file(sidecar.parent / name, sha256=digest) for name, digest in made.items()]
        figures = self._figures(self.root / "figures/paper/audit", written)
        self._action("#audit", "audit", [self.file(path) for path in printed], [*written, *figures])
        self.file(sidecar)

    def verified(self, stamps: Path) -> None:
        """Add the list of stored files that other code was found to make again, if there is one."""
        if stamps.is_file():
            self.file(stamps, description="Stored files that this or later code made again, with the day")

    def file(self, path: Path, kind: str = "", **properties: object) -> Entity:
        """A file of the project, added once."""
        name = path.relative_to(self.root).as_posix()
        entity = self.crate.get(name)
        if entity is not None:
            return entity
        entry = {"name": path.name, "encodingFormat": FORMATS.get(path.suffix, "text/plain")}
        types = {"@type": ["File", kind]} if kind else {}
        return self.crate.add_file(path, name, properties=types | entry | properties)

    def _action(self, name: str, section: str, inputs: Iterable[Entity], made: list[Entity]) -> Entity:
        properties = {"name": f"make {section}"}
        return self.crate.add_action(self._script(section), name, list(inputs), made, properties)

    def _script(self, section: str) -> Entity:
        (path,) = (path for path in (self.root / "experiments").rglob("*.py") if path.stem == section)
        script = self.file(path, "SoftwareSourceCode", programmingLanguage="Python")
        if "softwareRequirements" not in script:
            modules = sorted(files_of_script(path))
            script["softwareRequirements"] = [self.file(module, "SoftwareSourceCode") for module in modules]
        return script

    def _code(self, commit: str | None) -> Entity:
        entry = (
            {"name": f"code at commit {commit}", "version": commit} if commit else {"name": "code, not committed"}
        )
        date = dated(self.root, commit) if commit else None
        if date:
            self.dates.add(date)
            entry["dateModified"] = date
        return self._context(f"#code-{commit or 'unknown'}", "SoftwareSourceCode", **entry)

    def _config(self, record: dict) -> list[Entity]:
        paths = [self.root / "conf" / f"{record['section']}.yaml"]
        paths += [self.root / "conf/dataset" / f"{name}.yaml" for name in record["data"]]
        return [self.file(path) for path in paths if path.is_file()]

    def _data(self, name: str, source: dict, record: dict) -> Entity:
        config = record["config"]
        chosen = config.get("datasets", {}).get(name) or config.get("dataset") or {}
        entry = {"name": source.get("file", name), "description": f"{source.get('records', 'all')} records"}
        if record["surrogate"] or "sha256" not in source:
            return self._context(f"#surrogate-{name}", "Dataset", **entry | {"name": f"surrogate of {name}"})
        entry |= {"sha256": source["sha256"], "encodingFormat": "application/json"}
        address = chosen.get("url")
        if not address:
            return self._context(f"#data-{source['sha256']}", "CreativeWork", **entry)
        return self.crate.get(address) or self.crate.add_file(address, properties=entry)

    def _tables(self, folder: Path, made: dict[str, str], data: list[Entity]) -> list[Entity]:
        """Tables, each from the data."""
        based = {"isBasedOn": data} if data else {}
        return [self.file(folder / name, sha256=digest, **based) for name, digest in sorted(made.items())]

    def _figures(self, folder: Path, tables: list[Entity]) -> list[Entity]:
        record = figures_record(folder)
        if record is None:
            return []
        sources = [table for table in tables if table.id.endswith(".csv")]
        self.file(figures_sidecar(folder))
        made = sorted(record["files"].items())
        return [self.file(folder / name, sha256=digest, isBasedOn=sources) for name, digest in made]

    def _context(self, identifier: str, kind: str, **properties: object) -> Entity:
        entity = self.crate.get(identifier)
        return entity or self.crate.add(ContextEntity(self.crate, identifier, {"@type": kind} | properties))


def crate_of(root: Path, project: dict) -> dict:
    """The graph of all that is stored.

    Parameters
    ----------
    root : Path
        The project's top folder.
    project : dict
        The table ``project`` of its pyproject.toml: name, description and version.

    Returns
    -------
    dict
        JSON-LD.
    """
    recorder = Recorder(root)
    for path in sorted((root / "results").rglob("run.json")):
        recorder.run(path)
    if (root / "results/paper/audit.json").is_file():
        recorder.audit(root / "results/paper/audit.json")
    recorder.verified(root / "results" / STAMPS)
    recorder.described(project["name"], project["description"], project["version"])
    return recorder.crate.metadata.generate()
