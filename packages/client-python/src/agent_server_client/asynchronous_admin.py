"""What whoever runs the server asks it; the synchronous twin is made of it by make_synchronous.py."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import Any, cast
from urllib.parse import quote

import httpx

from . import protocol
from .asynchronous_transport import AsyncChatStream, AsyncPages, Transport
from .contract import (
    ActivityEvent,
    AgentCheck,
    AgentFile,
    AgentQuestion,
    AgentSave,
    AgentSaved,
    AgentVersion,
    AgentVersions,
    ApiKey,
    ApiKeyCreated,
    ApiKeyList,
    AuditEntry,
    CreateApiKey,
    Deployment,
    DeploymentRequest,
    DeploymentTargets,
    Health,
    StorageUse,
    StorageUseList,
    KnownPerson,
    LocalModelServers,
    McpTestResult,
    ModelTest,
    ModelTestRequest,
    PersonChange,
    PersonRemoved,
    ProviderModels,
    Readiness,
    Restarting,
    Run,
    RunList,
    RunSummary,
    SandboxReport,
    Server as LocalModelServer,
    ServerState,
    Settings as ServerSettings,
    SettingsPatch,
    SettingsSaved,
    SkillList,
    Target,
    UsageReport,
    WatchedFolder,
    WatchedFolders,
)
from .protocol import TRIAL, Request


class AsyncAdmin:
    """What whoever runs the server asks it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.agent = AsyncAgentFiles(transport)
        self.keys = AsyncApiKeys(transport)
        self.models = AsyncModelTests(transport)
        self.settings = AsyncSettingsFile(transport)
        self.people = AsyncPeople(transport)

    async def health(self) -> Health:
        return cast(Health, await self._transport.json(Request("GET", "/health")))

    async def readiness(self) -> Readiness:
        """Whether every part works; one that does not is ``not_ready``, no error."""
        request = Request("GET", "/readiness", also_taken=503)
        return cast(Readiness, await self._transport.json(request))

    async def server(self) -> ServerState:
        """Whether a restart is needed, and for what."""
        return cast(ServerState, await self._transport.json(Request("GET", "/admin/server")))

    async def folders(self) -> Sequence[WatchedFolder]:
        """The folders whose files the server keeps as documents."""
        answer = cast(WatchedFolders, await self._transport.json(Request("GET", "/admin/folders")))
        return answer["folders"]

    async def storage(self) -> Sequence[StorageUse]:
        """What the database holds, and how far it grows."""
        answer = cast(StorageUseList, await self._transport.json(Request("GET", "/admin/storage")))
        return answer["storage"]

    async def restart(self) -> Restarting:
        """Restarts the server in place. Throws ConflictError where it would not start again."""
        return await self._once("/admin/restart")

    async def launch(self) -> Restarting:
        """Launches a server that is stopped, or whose start failed. Throws ConflictError where it would not start."""
        return await self._once("/admin/launch")

    async def stop(self) -> Restarting:
        """Stops the server until it is launched again: only its setup and its health checks stay available."""
        return await self._once("/admin/stop")

    async def _once(self, path: str) -> Restarting:
        return cast(Restarting, await self._transport.json(Request("POST", path, is_repeatable=False)))

    def audit(
        self,
        *,
        who: str | None = None,
        action: str | None = None,
        target: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
    ) -> AsyncPages[AuditEntry]:
        """Who did what, the newest first: only of this person or key, this action, or what was done to this target.

        ``since`` and ``until``, which is not included, are ISO 8601 times.
        """
        selection = {"who": who, "action": action, "target": target, "since": since, "until": until}

        def read(cursor: str | None) -> Awaitable[Any]:
            query = {**selection, "limit": limit, "cursor": cursor}
            return self._transport.json(Request("GET", "/admin/audit", query))

        return AsyncPages("entries", read)

    async def usage(
        self,
        *,
        by: str | None = None,
        since: str | None = None,
        until: str | None = None,
        person: str | None = None,
        group: str | None = None,
        key: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        limit: int | None = None,
    ) -> UsageReport:
        """Who has used what: rows ``by`` day, person, group, key, agent or model, or several, separated by commas.

        ``since`` and ``until`` are days in UTC, both included.
        """
        chosen = {"person": person, "group": group, "key": key, "agent": agent, "model": model}
        query = {"by": by, "since": since, "until": until, **chosen, "limit": limit}
        return cast(UsageReport, await self._transport.json(Request("GET", "/admin/usage", query)))

    async def deployment_targets(self) -> Sequence[Target]:
        """What the agent can be deployed to."""
        answer = cast(DeploymentTargets, await self._transport.json(Request("GET", "/admin/deploy")))
        return answer["targets"]

    async def deploy(self, wanted: DeploymentRequest) -> Deployment:
        """The files of a deployment, or the reasons against it; writes nothing."""
        return cast(Deployment, await self._transport.json(Request("POST", "/admin/deploy", json=wanted)))

    async def events(
        self, *, after: int | None = None, follow: bool = True
    ) -> AsyncIterator[ActivityEvent]:
        """What the server has done lately and, with ``follow``, what it does from then on.

        Throws an AgentServerError when the server stops or the connection is lost: continue with the last event's
        ``id`` as ``after``.
        """
        query = {"after": after, "follow": "true" if follow else "false"}
        request = Request("GET", "/admin/events", query, accept="text/event-stream")
        reader = protocol.AnswerReader()
        async with self._transport.open(request, stream=True) as response:
            try:
                async for line in response.aiter_lines():
                    for event in reader.feed(line):
                        yield cast(ActivityEvent, event)
            except httpx.HTTPError as error:
                raise reader.interrupted(str(error)) from error

    async def runs(
        self, *, answer_id: str | None = None, limit: int | None = None
    ) -> Sequence[RunSummary]:
        """The last runs of the agent, the newest first, or those that led to an answer."""
        request = Request("GET", "/admin/runs", {"answerId": answer_id, "limit": limit})
        return cast(RunList, await self._transport.json(request))["runs"]

    async def run(self, id: str) -> Run:
        """What led to an answer: searches, prompts, tool calls, the error. Throws NotFoundError."""
        return cast(Run, await self._transport.json(Request("GET", f"/admin/runs/{quote(id, safe='')}")))

    async def metrics(self) -> str:
        """The metrics in the text format of Prometheus."""
        async with self._transport.open(Request("GET", "/metrics", accept="text/plain")) as response:
            return response.text


class AsyncAgentFiles:
    """The agent configuration on disk. What is saved answers the next question."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.trials = AsyncAgentTrials(transport)

    async def get(self) -> AgentFile:
        """The agent configuration on disk, with every mistake in it."""
        return cast(AgentFile, await self._transport.json(Request("GET", "/admin/agent")))

    async def check(self, text: str) -> AgentCheck:
        """Looks for mistakes in an agent configuration, and saves nothing."""
        request = Request("POST", "/admin/agent/check", json={"text": text})
        return cast(AgentCheck, await self._transport.json(request))

    async def save(self, file: AgentSave) -> AgentSaved:
        """Replaces it. Throws ConflictError where somebody else saved since ``basedOn``."""
        request = Request("PUT", "/admin/agent", json=file, is_repeatable=False)
        return cast(AgentSaved, await self._transport.json(request))

    async def versions(self) -> AgentVersions:
        """The last ten that were replaced, latest first."""
        request = Request("GET", "/admin/agent/versions")
        return cast(AgentVersions, await self._transport.json(request))

    async def version(self, digest: str) -> AgentVersion:
        """An earlier version. Throws NotFoundError."""
        path = f"/admin/agent/versions/{quote(digest, safe='')}"
        return cast(AgentVersion, await self._transport.json(Request("GET", path)))

    async def restore(self, digest: str, based_on: str) -> AgentSaved:
        """Saves an earlier version again."""
        path = f"/admin/agent/versions/{quote(digest, safe='')}/restore"
        request = Request("POST", path, json={"basedOn": based_on}, is_repeatable=False)
        return cast(AgentSaved, await self._transport.json(request))


class AsyncAgentTrials:
    """Tries parts of a configuration as a run would use them; nothing found counts as accepted."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def mcp(self, text: str, name: str) -> McpTestResult:
        """Connects to an MCP server of an agent configuration that need not be saved."""
        return cast(McpTestResult, await self._try(f"/admin/agent/mcp/{quote(name, safe='')}/test", text))

    async def sandbox(self, text: str) -> SandboxReport:
        """Verifies the sandbox of an agent configuration that need not be saved."""
        return cast(SandboxReport, await self._try("/admin/agent/sandbox/verify", text))

    async def skills(self, text: str) -> SkillList:
        """The skills of an agent configuration that need not be saved, with their warnings."""
        return cast(SkillList, await self._try("/admin/agent/skills/check", text))

    async def _try(self, path: str, text: str) -> Any:
        return await self._transport.json(Request("POST", path, json={"text": text}, timeout=TRIAL))

    def chat(self, question: AgentQuestion) -> AsyncChatStream:
        """Asks an agent with a configuration that need not be saved. The first event is of type ``draft``."""
        asked = Request("POST", "/admin/agent/chat", json=question, accept="text/event-stream")
        return AsyncChatStream(self._transport, asked)


class AsyncApiKeys:
    """Keys with fewer rights than the server's own."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> Sequence[ApiKey]:
        """Those beside the server's own, with what each may do and its last use."""
        answer = await self._transport.json(Request("GET", "/admin/keys"))
        return cast(ApiKeyList, answer)["keys"]

    async def create(self, key: CreateApiKey) -> ApiKeyCreated:
        """Makes a key; ``secret`` in the answer is shown this once."""
        request = Request("POST", "/admin/keys", json=key, is_repeatable=False)
        return cast(ApiKeyCreated, await self._transport.json(request))

    async def revoke(self, id: str) -> None:
        """Revokes a key, and those that it made."""
        await self._transport.json(Request("DELETE", f"/admin/keys/{quote(id, safe='')}", is_repeatable=False))


class AsyncSettingsFile:
    """The server's variables in the file ``.env``; changes take effect with a restart."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def get(self) -> ServerSettings:
        """Every variable with its meaning, its value unless it is secret, and where that comes from."""
        return cast(ServerSettings, await self._transport.json(Request("GET", "/admin/settings")))

    async def save(self, patch: SettingsPatch) -> SettingsSaved:
        """Sets and clears variables in ``.env``; they take effect with a restart."""
        request = Request("PATCH", "/admin/settings", json=patch, is_repeatable=False)
        return cast(SettingsSaved, await self._transport.json(request))


class AsyncModelTests:
    """Tests the models that the server uses, also with settings that are not saved."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def test(self, request: ModelTestRequest) -> ModelTest:
        """Calls a model as chat and search would, also with settings that are not saved."""
        sent = Request("POST", "/admin/models/test", json=request, is_repeatable=False)
        return cast(ModelTest, await self._transport.json(sent))

    async def list(self, request: ModelTestRequest) -> Sequence[str]:
        """The models that the provider says it has."""
        return (await self.offer(request))["models"]

    async def offer(self, request: ModelTestRequest) -> ProviderModels:
        """The same, with the days on which those close of which that is announced."""
        sent = Request("POST", "/admin/models/list", json=request, is_repeatable=False)
        return cast(ProviderModels, await self._transport.json(sent))

    async def local(self) -> Sequence[LocalModelServer]:
        """Ollama and LM Studio on the server's machine."""
        answer = await self._transport.json(Request("GET", "/admin/models/local"))
        return cast(LocalModelServers, answer)["servers"]


class AsyncPeople:
    """Those who have signed in, and what each may use in a day."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, *, limit: int | None = None) -> AsyncPages[KnownPerson]:
        def read(cursor: str | None) -> Awaitable[Any]:
            query = {"limit": limit, "cursor": cursor}
            return self._transport.json(Request("GET", "/admin/people", query))

        return AsyncPages("people", read)

    async def update(self, id: str, change: PersonChange) -> KnownPerson:
        """Sets or clears a person's limits. Throws NotFoundError."""
        request = Request("PATCH", f"/admin/people/{quote(id, safe='')}", json=change)
        return cast(KnownPerson, await self._transport.json(request))

    async def delete(self, id: str, *, dry_run: bool = False, hand_to: str | None = None) -> PersonRemoved:
        """Removes somebody and what is theirs alone, or with ``dry_run`` only says how much that is.

        Their documents go to ``hand_to``, or to nobody. Throws NotFoundError.
        """
        query = {"dryRun": "true" if dry_run else None, "handTo": hand_to}
        request = Request("DELETE", f"/admin/people/{quote(id, safe='')}", query)
        return cast(PersonRemoved, await self._transport.json(request))
