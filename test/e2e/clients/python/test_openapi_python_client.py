"""openapi-python-client: the client that it generates from the contract."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from conftest import KEY, QUESTION


@pytest.fixture(scope="module")
def contract(base_url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{origin(base_url)}/openapi.json") as answer:
        return dict(json.load(answer))


@pytest.fixture(scope="module")
def said(contract: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the generator says; the package that it makes can be imported from then on."""
    folder: Path = tmp_path_factory.mktemp("generated")
    document = folder / "openapi.json"
    document.write_text(json.dumps(contract))
    config = folder / "config.yaml"
    config.write_text("post_hooks: []\n")
    options = ["--meta", "none", "--output-path", str(folder / "generated_client")]
    command = ["generate", "--path", str(document), "--config", str(config), *options]
    made = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *command],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    sys.path.insert(0, str(folder))
    return made.stdout + made.stderr


def origin(base_url: str) -> str:
    return base_url.removesuffix("/openai/v1")


def test_every_operation_is_generated_and_imports(contract: dict[str, Any], said: str) -> None:
    assert "Endpoint will not be generated" not in said
    assert "Unable to process schema" not in said
    operations = [each["operationId"] for path in contract["paths"].values() for each in path.values()]
    api = importlib.import_module("generated_client.api")
    found = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(api.__path__, "generated_client.api.")
        if not module.ispkg
    ]
    assert len(found) == len(operations) > 80
    assert all(hasattr(module, "sync_detailed") for module in found)


def test_it_works(base_url: str, said: str) -> None:
    assert said
    package = importlib.import_module("generated_client")
    models = importlib.import_module("generated_client.models")
    client = package.AuthenticatedClient(base_url=origin(base_url), token=KEY)

    def call(name: str) -> Any:
        return importlib.import_module(f"generated_client.api.{name}")

    found = call("knowledge.query").sync(client=client, body=models.QueryRequest(query=QUESTION))
    assert found.hits[0].title == "hours.txt"
    body = models.CreateDocument(title="Geese", text="Geese fly south.")
    created = call("knowledge.create_document").sync_detailed(client=client, body=body)
    assert created.status_code == 202
    missing = call("knowledge.get_document").sync_detailed(client=client, id="nothing")
    assert missing.parsed.error.code == "document_not_found"
    original = call("knowledge.get_document_file").sync(client=client, id=found.hits[0].document_id)
    assert b"Saturdays" in original.payload.read()
    exported = call("chat.export_feedback").sync_detailed(client=client)
    assert (exported.status_code, exported.content) == (200, b"")
