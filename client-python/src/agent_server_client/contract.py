# Generated from /openapi.json by generate_types.py; a test compares the two. Do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from typing_extensions import NotRequired


class Profile(TypedDict):
    description: str
    model: str
    retrieval: Literal['lexical', 'hybrid']


class Tool(TypedDict):
    name: str
    source: str


class Agent(TypedDict):
    name: str
    profile: Profile
    tools: list[Tool]


class Prompt(TypedDict):
    rules: str
    catalogue: str
    assembled: str


class AgentRestore(TypedDict):
    basedOn: str


class AgentSave(TypedDict):
    text: str
    basedOn: str


class AgentText(TypedDict):
    text: str


class AgentVersion(TypedDict):
    digest: str
    text: str


class Version(TypedDict):
    digest: str
    replacedAt: str


class AgentVersions(TypedDict):
    versions: list[Version]


Collection: TypeAlias = str


class ApiKey(TypedDict):
    id: str
    name: str
    scopes: list[Literal['query', 'chat', 'ingest', 'admin']]
    collections: NotRequired[list[Collection]]
    requestsPerMinute: NotRequired[int]
    tokensPerDay: NotRequired[int]
    tokensToday: int
    expiresAt: NotRequired[str]
    createdAt: str
    createdBy: NotRequired[str]
    lastUsedAt: NotRequired[str]


class ApiKeyCreated(TypedDict):
    id: str
    name: str
    scopes: list[Literal['query', 'chat', 'ingest', 'admin']]
    collections: NotRequired[list[Collection]]
    requestsPerMinute: NotRequired[int]
    tokensPerDay: NotRequired[int]
    tokensToday: int
    expiresAt: NotRequired[str]
    createdAt: str
    createdBy: NotRequired[str]
    lastUsedAt: NotRequired[str]
    secret: str


class ApiKeyList(TypedDict):
    keys: list[ApiKey]


class Call(TypedDict):
    callId: str
    tool: str
    input: Any


class Approval(TypedDict):
    calls: list[Call]
    state: str


class ApprovalRequiredFrame(TypedDict):
    type: Literal['approval-required']
    calls: list[Call]
    state: str


class Artifact(TypedDict):
    id: str
    name: str
    mediaType: str
    size: int
    url: str
    link: NotRequired[str]
    expiresAt: str


class Skill(TypedDict):
    name: str
    description: str
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]
    source: NotRequired[str]
    warnings: NotRequired[list[str]]


class McpItem(TypedDict):
    name: str
    url: str
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]
    transport: NotRequired[Literal['streamable-http', 'sse']]
    protocol: NotRequired[str]
    tools: NotRequired[int]
    waiting: NotRequired[list[str]]


class Plugin(TypedDict):
    name: str
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]


class Chat(TypedDict):
    model: str
    tools: bool


class Embedder(TypedDict):
    state: Literal['on', 'off', 'unavailable']
    kind: NotRequired[Literal['builtin', 'remote']]
    model: NotRequired[str]
    missing: NotRequired[int]
    reason: NotRequired[str]


class Reranker(TypedDict):
    state: Literal['on', 'off', 'unavailable']
    model: NotRequired[str]
    reason: NotRequired[str]


class ChatMessage(TypedDict):
    role: Literal['user', 'assistant', 'system']
    content: str


class Chunk(TypedDict):
    id: str
    text: str
    heading: NotRequired[str]
    start: int
    end: int
    page: NotRequired[int]
    pageEnd: NotRequired[int]


class ChunkList(TypedDict):
    chunks: list[Chunk]
    nextCursor: NotRequired[str]


class Function(TypedDict):
    name: str
    arguments: str


class ToolCall(TypedDict):
    id: str
    type: Literal['function']
    function: Function
    extra_content: NotRequired[Any]


class ToolCall1(TypedDict):
    id: str
    type: Literal['function']
    function: Function
    extra_content: NotRequired[Any]
    index: int


class Content(TypedDict):
    type: Literal['text']
    text: str


class ImageUrl(TypedDict):
    url: str
    detail: NotRequired[str | None]


class Content1(TypedDict):
    type: Literal['image_url']
    image_url: ImageUrl


class Content2(TypedDict):
    type: str


class CompletionMessage1(TypedDict):
    role: Literal['system', 'developer']
    content: str | list[Content | Content1 | Content2]


class Content3(TypedDict):
    type: Literal['text']
    text: str


class Content4(TypedDict):
    type: Literal['image_url']
    image_url: ImageUrl


class Content5(TypedDict):
    type: str


class CompletionMessage2(TypedDict):
    role: Literal['user']
    content: str | list[Content3 | Content4 | Content5]


class Content6(TypedDict):
    type: Literal['text']
    text: str


class Content7(TypedDict):
    type: Literal['image_url']
    image_url: ImageUrl


class Content8(TypedDict):
    type: str


class ToolCall2(TypedDict):
    id: str
    type: NotRequired[Literal['function']]
    function: Function
    extra_content: NotRequired[dict[str, Any] | None]


class CompletionMessage3(TypedDict):
    role: Literal['assistant']
    content: NotRequired[str | list[Content6 | Content7 | Content8] | None]
    tool_calls: NotRequired[list[ToolCall2] | None]
    reasoning_content: NotRequired[str | None]
    reasoning_details: NotRequired[list[dict[str, Any]] | None]


class Content9(TypedDict):
    type: Literal['text']
    text: str


class Content10(TypedDict):
    type: Literal['image_url']
    image_url: ImageUrl


class Content11(TypedDict):
    type: str


class CompletionMessage4(TypedDict):
    role: Literal['tool']
    content: str | list[Content9 | Content10 | Content11]
    tool_call_id: str


CompletionMessage: TypeAlias = (
    CompletionMessage1 | CompletionMessage2 | CompletionMessage3 | CompletionMessage4
)


class StreamOptions(TypedDict):
    include_usage: NotRequired[bool | None]


StopItem: TypeAlias = str


class Function3(TypedDict):
    name: str
    description: NotRequired[str | None]
    parameters: NotRequired[dict[str, Any] | None]


class Tool1(TypedDict):
    type: Literal['function']
    function: Function3


class CompletionUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Deletion(TypedDict):
    matched: int
    deleted: int


class Refusal(TypedDict):
    field: str
    message: str
    remedy: str


class Warning(TypedDict):
    field: str
    message: str
    remedy: str


class File(TypedDict):
    name: str
    text: str


class Command(TypedDict):
    title: str
    run: str


class Deployment(TypedDict):
    target: str
    refusals: list[Refusal]
    warnings: list[Warning]
    files: list[File]
    secrets: list[str]
    commands: list[Command]


class DeploymentRequest(TypedDict):
    target: str
    instances: NotRequired[int | None]
    domain: NotRequired[str | None]


class Target(TypedDict):
    name: str
    title: str


class DeploymentTargets(TypedDict):
    targets: list[Target]


class Meaning(TypedDict):
    missing: int
    seconds: NotRequired[int]


class DocumentError(TypedDict):
    code: str
    message: str


class DocumentFile(TypedDict):
    name: str
    mediaType: str
    size: int


class DocumentPatch(TypedDict):
    metadata: dict[str, str | float | bool | None]


DocumentSort: TypeAlias = Literal[
    '-createdAt',
    'createdAt',
    '-updatedAt',
    'updatedAt',
    'title',
    '-title',
    'characters',
    '-characters',
]


class DocumentSource(TypedDict):
    refresh: NotRequired[str]
    fetchedAt: str
    status: NotRequired[int]
    error: NotRequired[str]
    nextAt: NotRequired[str]


DocumentStatus: TypeAlias = Literal['pending', 'processing', 'ready', 'failed']


class DocumentWarning(TypedDict):
    code: str
    message: str


class Datum(TypedDict):
    object: Literal['embedding']
    index: int
    embedding: list[float] | str


class Usage1(TypedDict):
    prompt_tokens: int
    total_tokens: int


class Embeddings(TypedDict):
    object: Literal['list']
    model: str
    data: list[Datum]
    usage: Usage1


InputItem: TypeAlias = str


class EmbeddingsRequest(TypedDict):
    model: NotRequired[str | None]
    input: str | list[InputItem]
    encoding_format: NotRequired[Literal['float', 'base64'] | None]
    dimensions: NotRequired[None]


class ErrorDetail(TypedDict):
    message: str
    type: Literal[
        'invalid_request_error',
        'authentication_error',
        'permission_error',
        'rate_limit_error',
        'server_error',
        'upstream_error',
    ]
    code: Literal[
        'invalid_request',
        'unauthorized',
        'insufficient_scope',
        'collection_not_allowed',
        'fetch_not_allowed',
        'origin_not_allowed',
        'document_not_found',
        'file_not_found',
        'connection_not_found',
        'artifact_not_found',
        'response_not_found',
        'version_not_found',
        'model_not_found',
        'key_not_found',
        'route_not_found',
        'method_not_allowed',
        'request_timeout',
        'document_not_failed',
        'changed_meanwhile',
        'not_writable',
        'not_startable',
        'restart_unavailable',
        'too_many_keys',
        'idempotency_conflict',
        'body_too_large',
        'unsupported_media_type',
        'range_not_satisfiable',
        'queue_full',
        'too_many_uploads',
        'too_much_at_once',
        'too_many_attempts',
        'rate_limited',
        'too_many_runs',
        'internal',
        'screen_unavailable',
        'fetch_failed',
        'upstream_failed',
        'upstream_refused',
        'upstream_unauthorized',
        'upstream_model_not_found',
        'upstream_rate_limited',
        'upstream_timeout',
        'index_unavailable',
        'index_not_ready',
        'sandbox_unavailable',
        'store_unavailable',
        'not_launched',
        'shutting_down',
        'storage_full',
    ]
    param: str | None
    request_id: str


class ErrorFrame(TypedDict):
    type: Literal['error']
    error: ErrorDetail


FieldCondition = TypedDict(
    'FieldCondition',
    {
        'field': str,
        'eq': NotRequired[str | float | bool | None],
        'in': NotRequired[list[str | float | bool] | None],
        'gt': NotRequired[str | float | None],
        'gte': NotRequired[str | float | None],
        'lt': NotRequired[str | float | None],
        'lte': NotRequired[str | float | None],
    },
)


class FileCounts(TypedDict):
    in_progress: int
    completed: int
    failed: int
    cancelled: int
    total: int


class FileBatch(TypedDict):
    id: str
    object: Literal['vector_store.files_batch']
    created_at: int
    vector_store_id: str
    status: Literal['in_progress', 'completed', 'cancelled', 'failed']
    file_counts: FileCounts


class FileCitation(TypedDict):
    type: Literal['file_citation']
    file_id: str
    filename: str
    index: int
    number: int
    start: int
    end: int
    url: NotRequired[str]


class FileObject(TypedDict):
    id: str
    object: Literal['file']
    bytes: int
    created_at: int
    filename: str
    purpose: Literal['assistants']
    status: Literal['uploaded', 'processed', 'error']
    status_details: NotRequired[str]


FilterLevel41 = TypedDict(
    'FilterLevel41',
    {
        'and': list[FieldCondition],
    },
)


FilterLevel42 = TypedDict(
    'FilterLevel42',
    {
        'or': list[FieldCondition],
    },
)


FilterLevel43 = TypedDict(
    'FilterLevel43',
    {
        'not': FieldCondition,
    },
)


FilterLevel4: TypeAlias = FieldCondition | FilterLevel41 | FilterLevel42 | FilterLevel43


class Health(TypedDict):
    status: Literal['ok']


class Stages(TypedDict):
    lexical: NotRequired[float]
    dense: NotRequired[float]
    rerank: NotRequired[float]


class Datum1(TypedDict):
    id: str
    type: str


class InputItemList(TypedDict):
    object: Literal['list']
    data: list[Datum1]
    first_id: str | None
    last_id: str | None
    has_more: bool


class Error1(TypedDict):
    code: str
    message: str
    param: str | None


class LineRefused(TypedDict):
    line: int
    error: Error1


class LineStored(TypedDict):
    id: str
    status: DocumentStatus
    error: NotRequired[DocumentError]
    meaning: NotRequired[Meaning]
    line: int


class LogEvent(TypedDict):
    id: int
    at: str
    type: Literal['log']
    level: Literal['trace', 'debug', 'info', 'warn', 'error', 'fatal']
    message: str
    requestId: NotRequired[str]
    details: dict[str, Any]


McpAnswer: TypeAlias = dict[str, Any]


McpMessage: TypeAlias = dict[str, Any]


class McpTestRequest(TypedDict):
    accept: NotRequired[bool | None]
    digest: NotRequired[str | None]
    tool: NotRequired[str | None]
    arguments: NotRequired[dict[str, Any] | None]


class Step(TypedDict):
    step: Literal['configuration', 'connect', 'list-tools', 'accept', 'call-tool']
    ok: bool
    milliseconds: float
    message: NotRequired[str]


class Server(TypedDict):
    name: str
    version: str
    transport: Literal['streamable-http', 'sse']
    protocol: str


class Tool2(TypedDict):
    name: str
    remoteName: str
    description: str
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]


class McpTestResult(TypedDict):
    connection: str
    ok: bool
    steps: list[Step]
    server: NotRequired[Server]
    digest: str
    tools: list[Tool2]
    output: NotRequired[str]
    artifacts: NotRequired[list[Artifact]]


Metadata: TypeAlias = dict[str, str | float | bool]


class Mistake(TypedDict):
    field: str
    message: str


class Model(TypedDict):
    id: str
    object: Literal['model']
    created: int
    owned_by: str


class ModelList(TypedDict):
    object: Literal['list']
    data: list[Model]


class Chat1(TypedDict):
    answer: str
    firstMilliseconds: NotRequired[float]
    streams: bool
    tools: Literal['called', 'ignored', 'none']


class Embedding(TypedDict):
    dimension: int


class Reranking(TypedDict):
    scores: list[float]
    ranksRight: bool


class ModelTest(TypedDict):
    kind: Literal['chat', 'embedding', 'reranking']
    model: str
    ok: bool
    milliseconds: float
    error: NotRequired[str]
    chat: NotRequired[Chat1]
    embedding: NotRequired[Embedding]
    reranking: NotRequired[Reranking]


ClearItem: TypeAlias = str


class ModelTestRequest(TypedDict):
    set: NotRequired[dict[str, str] | None]
    clear: NotRequired[list[ClearItem] | None]
    kind: Literal['chat', 'embedding', 'reranking']


class NewApiKey(TypedDict):
    name: str
    scopes: list[Literal['query', 'chat', 'ingest', 'admin']]
    collections: NotRequired[list[Collection] | None]
    requestsPerMinute: NotRequired[int | None]
    tokensPerDay: NotRequired[int | None]
    expiresAt: NotRequired[str | None]


class NewDocument(TypedDict):
    text: NotRequired[str | None]
    title: NotRequired[str | None]
    url: NotRequired[str | None]
    metadata: NotRequired[Metadata | None]
    collection: NotRequired[str | None]
    refresh: NotRequired[str | None]


class NewDocumentFile(TypedDict):
    file: bytes
    title: NotRequired[str]
    url: NotRequired[str]
    collection: NotRequired[str]
    metadata: NotRequired[str]


class NewDocumentItem(TypedDict):
    text: str
    title: NotRequired[str | None]
    url: NotRequired[str | None]
    metadata: NotRequired[Metadata | None]
    collection: NotRequired[str | None]
    id: NotRequired[str | None]
    idempotencyKey: NotRequired[str | None]


NewDocuments: TypeAlias = list[NewDocumentItem]


class NewFile(TypedDict):
    file: bytes
    purpose: NotRequired[str]


FileId: TypeAlias = str


class NewSite(TypedDict):
    url: str
    limit: NotRequired[int | None]
    refresh: NotRequired[str | None]
    metadata: NotRequired[Metadata | None]
    collection: NotRequired[str | None]


class NewVectorStore(TypedDict):
    name: str
    file_ids: NotRequired[list[FileId] | None]
    expires_after: NotRequired[None]
    chunking_strategy: NotRequired[None]


class NewVectorStoreFile(TypedDict):
    file_id: str
    attributes: NotRequired[Metadata | None]
    chunking_strategy: NotRequired[None]


class ProviderModels(TypedDict):
    models: list[str]


class Checks(TypedDict):
    state: Literal['ok', 'failed']
    milliseconds: float
    message: NotRequired[str]


class Meaning3(TypedDict):
    state: Literal['done', 'embedding', 'waiting']
    missing: int
    refused: int
    seconds: NotRequired[int]
    reason: NotRequired[str]


class Reindex(TypedDict):
    model: str
    state: Literal['embedding', 'ready', 'waiting']
    done: int
    total: int
    reason: NotRequired[str]


class Documents(TypedDict):
    pending: int
    processing: int
    ready: int
    failed: int


class Readiness(TypedDict):
    status: Literal['ready', 'not_ready']
    checks: dict[str, Checks]
    retrieval: Literal['lexical', 'hybrid']
    degraded: NotRequired[Literal[True]]
    meaning: NotRequired[Meaning3]
    reindex: NotRequired[Reindex]
    documents: NotRequired[Documents]


class Removed(TypedDict):
    id: str
    object: str
    deleted: Literal[True]


class RequestEvent(TypedDict):
    id: int
    at: str
    type: Literal['request']
    operation: str
    method: str
    path: str
    status: int
    milliseconds: float
    address: NotRequired[str]
    key: NotRequired[str]
    requestId: NotRequired[str]


class Error2(TypedDict):
    code: str
    message: str


class IncompleteDetails(TypedDict):
    reason: str


class Reasoning(TypedDict):
    effort: str | None
    summary: None


class InputTokensDetails(TypedDict):
    cached_tokens: int
    cache_write_tokens: int


class OutputTokensDetails(TypedDict):
    reasoning_tokens: int


class Usage2(TypedDict):
    input_tokens: int
    input_tokens_details: InputTokensDetails
    output_tokens: int
    output_tokens_details: OutputTokensDetails
    total_tokens: int


class ResponseDeleted(TypedDict):
    id: str
    object: Literal['response']
    deleted: Literal[True]


class Part(TypedDict):
    type: Literal['output_text']
    text: str
    annotations: list[FileCitation]
    logprobs: list[Any]


class Content12(TypedDict):
    type: Literal['input_text', 'output_text', 'text']
    text: str


class Content13(TypedDict):
    type: Literal['refusal']
    refusal: str


class Content14(TypedDict):
    type: Literal['input_image']
    image_url: str
    detail: NotRequired[str | None]


class ResponseInputItem1(TypedDict):
    type: NotRequired[Literal['message']]
    role: Literal['user', 'assistant', 'system', 'developer']
    content: str | list[Content12 | Content13 | Content14]


class ResponseInputItem2(TypedDict):
    type: Literal['function_call']
    call_id: str
    name: str
    arguments: str
    extra_content: NotRequired[dict[str, Any] | None]
    reasoning_content: NotRequired[str | None]
    reasoning_details: NotRequired[list[dict[str, Any]] | None]


class Output(TypedDict):
    type: Literal['input_text', 'output_text', 'text']
    text: str


class Output1(TypedDict):
    type: Literal['refusal']
    refusal: str


class Output2(TypedDict):
    type: Literal['input_image']
    image_url: str
    detail: NotRequired[str | None]


class ResponseInputItem3(TypedDict):
    type: Literal['function_call_output']
    call_id: str
    output: str | list[Output | Output1 | Output2]


class ResponseInputItem4(TypedDict):
    type: Literal['item_reference']
    id: str


class ResponseInputItem5(TypedDict):
    type: Literal['file_search_call', 'reasoning']


ResponseInputItem: TypeAlias = (
    ResponseInputItem1
    | ResponseInputItem2
    | ResponseInputItem3
    | ResponseInputItem4
    | ResponseInputItem5
)


class ContentItem(TypedDict):
    type: Literal['output_text']
    text: str
    annotations: list[FileCitation]
    logprobs: list[Any]


class ResponseOutputItem1(TypedDict):
    type: Literal['message']
    id: str
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    role: Literal['assistant']
    content: list[ContentItem]


class ResponseOutputItem2(TypedDict):
    type: Literal['function_call']
    id: str
    call_id: str
    name: str
    arguments: str
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    extra_content: NotRequired[Any]
    reasoning_content: NotRequired[str]
    reasoning_details: NotRequired[list[Any]]


class Result(TypedDict):
    file_id: str
    filename: str
    score: float
    text: str
    attributes: dict[str, Any]


class ResponseOutputItem3(TypedDict):
    type: Literal['file_search_call']
    id: str
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    queries: list[str]
    results: list[Result] | None


ResponseOutputItem: TypeAlias = (
    ResponseOutputItem1 | ResponseOutputItem2 | ResponseOutputItem3
)


class Reasoning1(TypedDict):
    effort: NotRequired[str | None]


class Format(TypedDict):
    type: Literal['text', 'json_object', 'json_schema']


class Text(TypedDict):
    format: NotRequired[Format | None]
    verbosity: NotRequired[Literal['low', 'medium', 'high'] | None]


class Tools(TypedDict):
    type: Literal['function']
    name: str
    description: NotRequired[str | None]
    parameters: NotRequired[dict[str, Any] | None]
    strict: NotRequired[bool | None]


VectorStoreId: TypeAlias = str


class Filters(TypedDict):
    type: Literal['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin']
    key: str
    value: str | float | bool | list[str | float | bool]


class Filter4(TypedDict):
    type: Literal['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin']
    key: str
    value: str | float | bool | list[str | float | bool]


class Filters5(TypedDict):
    type: Literal['and', 'or']
    filters: list[Filter4]


class Filters3(TypedDict):
    type: Literal['and', 'or']
    filters: list[Filters | Filters5]


class Filters1(TypedDict):
    type: Literal['and', 'or']
    filters: list[Filters | Filters3]


class Tools1(TypedDict):
    type: Literal['file_search']
    vector_store_ids: list[VectorStoreId]
    max_num_results: NotRequired[int | None]
    filters: NotRequired[Filters | Filters1 | None]


class ToolChoice(TypedDict):
    type: Literal['function']
    name: str


class ToolChoice1(TypedDict):
    type: Literal['file_search']


class Restarting(TypedDict):
    startedAt: str
    graceSeconds: float


ApprovedItem: TypeAlias = str


class Resume(TypedDict):
    state: str
    approved: list[ApprovedItem]


class RunEvent(TypedDict):
    id: int
    at: str
    type: Literal['run']
    outcome: str
    milliseconds: float
    firstDelta: NotRequired[float]
    promptTokens: NotRequired[int]
    completionTokens: NotRequired[int]
    tools: dict[str, int]


class SampleEvent(TypedDict):
    id: int
    at: str
    type: Literal['sample']
    seconds: float
    processors: float
    memory: int
    requests: int
    failedRequests: int
    requestMilliseconds: float
    searches: int
    searchMilliseconds: float
    runs: int
    openRuns: int
    documents: int


class Limits(TypedDict):
    seconds: int
    cpus: float
    memoryMegabytes: int
    processes: int
    fileMegabytes: int
    outputKilobytes: int


class SandboxProbe(TypedDict):
    name: Literal[
        'start',
        'computation',
        'files',
        'environment',
        'host-files',
        'network',
        'memory',
        'total-memory',
        'processes',
        'cpus',
        'file-space',
        'output',
        'time-out',
    ]
    ok: bool
    milliseconds: int
    message: NotRequired[str]
    remedy: NotRequired[str]


class SandboxReport(TypedDict):
    kind: Literal['embedded', 'bubblewrap', 'docker', 'e2b', 'none']
    ok: bool
    milliseconds: int
    verifiedAt: str
    probes: list[SandboxProbe]


class Mistakes(TypedDict):
    agent: list[Mistake]
    settings: list[Mistake]


class Restart(TypedDict):
    required: bool
    agent: list[str]
    settings: list[str]
    possible: bool
    reason: NotRequired[str]


class ServerState(TypedDict):
    startedAt: str
    state: Literal['running', 'stopped', 'failed']
    mode: Literal['agent', 'knowledge']
    reason: NotRequired[str]
    mistakes: Mistakes
    restart: Restart


class Setting(TypedDict):
    name: str
    group: str
    meaning: str
    default: NotRequired[str]
    secret: bool
    source: Literal['environment', 'file', 'default']
    value: NotRequired[str]
    ending: NotRequired[str]
    restartRequired: bool


class Settings(TypedDict):
    path: str
    digest: str
    settings: list[Setting]
    mistakes: list[Mistake]


class SettingsPatch(TypedDict):
    basedOn: str
    set: NotRequired[dict[str, str] | None]
    clear: NotRequired[list[ClearItem] | None]
    move: NotRequired[dict[str, str] | None]


class SettingsSaved(TypedDict):
    changed: list[str]
    settings: Settings


class SiteLine1(TypedDict):
    pages: int
    left: int


class SiteLine2(TypedDict):
    page: int
    url: str
    id: str
    status: DocumentStatus
    unchanged: bool


class SiteLine3(TypedDict):
    page: int
    url: str
    error: DocumentError


SiteLine: TypeAlias = SiteLine1 | SiteLine2 | SiteLine3


class SkillList(TypedDict):
    skills: list[Skill]


class SkillReload(TypedDict):
    source: NotRequired[str | None]
    accept: NotRequired[bool | None]


class TextDeltaFrame(TypedDict):
    type: Literal['text-delta']
    text: str


class Tool3(TypedDict):
    name: str
    title: str
    description: str
    inputSchema: dict[str, Any]
    source: str
    approval: NotRequired[Literal['always']]
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]


class ToolCallFrame(TypedDict):
    type: Literal['tool-call']
    callId: str
    tool: str
    input: Any


class ToolList(TypedDict):
    tools: list[Tool3]


class ToolResultFrame(TypedDict):
    type: Literal['tool-result']
    callId: str
    tool: str
    output: str
    isError: bool


class UrlCitation1(TypedDict):
    url: str
    title: str
    start_index: int
    end_index: int


class UrlCitation(TypedDict):
    type: Literal['url_citation']
    url_citation: UrlCitation1


class Usage(TypedDict):
    promptTokens: int
    completionTokens: int
    totalTokens: int


class VectorStore(TypedDict):
    id: str
    object: Literal['vector_store']
    name: str
    created_at: int
    last_active_at: None
    metadata: dict[str, Any]
    status: Literal['in_progress', 'completed']
    usage_bytes: int
    file_counts: FileCounts


class LastError(TypedDict):
    code: str
    message: str


class VectorStoreFile(TypedDict):
    id: str
    object: Literal['vector_store.file']
    created_at: int
    vector_store_id: str
    status: Literal['in_progress', 'completed', 'failed']
    last_error: LastError | None
    usage_bytes: int
    attributes: Metadata


class VectorStoreFileList(TypedDict):
    object: Literal['list']
    data: list[VectorStoreFile]
    first_id: str | None
    last_id: str | None
    has_more: bool


class VectorStoreList(TypedDict):
    object: Literal['list']
    data: list[VectorStore]
    has_more: Literal[False]


QueryItem: TypeAlias = str


class Filters6(TypedDict):
    type: Literal['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin']
    key: str
    value: str | float | bool | list[str | float | bool]


class Filters11(TypedDict):
    type: Literal['and', 'or']
    filters: list[Filter4]


class Filters9(TypedDict):
    type: Literal['and', 'or']
    filters: list[Filters6 | Filters11]


class Filters7(TypedDict):
    type: Literal['and', 'or']
    filters: list[Filters6 | Filters9]


class RankingOptions(TypedDict):
    ranker: NotRequired[Literal['auto', 'default-2024-11-15', 'none'] | None]
    score_threshold: NotRequired[float | None]


class VectorStoreSearch(TypedDict):
    query: str | list[QueryItem]
    max_num_results: NotRequired[int | None]
    filters: NotRequired[Filters6 | Filters7 | None]
    ranking_options: NotRequired[RankingOptions | None]
    rewrite_query: NotRequired[Literal[False] | None]


class ContentItem1(TypedDict):
    type: Literal['text']
    text: str


class Datum2(TypedDict):
    file_id: str
    filename: str
    score: float
    attributes: Metadata
    content: list[ContentItem1]
    start: int
    end: int


class VectorStoreSearchResults(TypedDict):
    object: Literal['vector_store.search_results.page']
    search_query: list[str]
    data: list[Datum2]
    has_more: Literal[False]
    next_page: None


ActivityEvent: TypeAlias = LogEvent | RequestEvent | RunEvent | SampleEvent


ActivityFrame: TypeAlias = ActivityEvent | ErrorFrame


class AgentCheck(TypedDict):
    valid: bool
    mistakes: list[Mistake]
    configuration: NotRequired[dict[str, Any]]
    prompt: Prompt


class AgentFile(TypedDict):
    valid: bool
    mistakes: list[Mistake]
    configuration: NotRequired[dict[str, Any]]
    prompt: Prompt
    path: str
    found: bool
    text: str
    digest: str
    restartFields: list[str]


class AgentSaved(TypedDict):
    changed: list[str]
    file: AgentFile


class BatchFailure(TypedDict):
    error: DocumentError


class Message(TypedDict):
    role: Literal['assistant']
    content: str | None
    refusal: None
    tool_calls: NotRequired[list[ToolCall]]
    annotations: NotRequired[list[UrlCitation]]
    reasoning_content: NotRequired[str]
    reasoning_details: NotRequired[list[Any]]


class Choice(TypedDict):
    index: int
    message: Message
    logprobs: None
    finish_reason: Literal['stop', 'length', 'tool_calls', 'content_filter']


class Delta(TypedDict):
    role: NotRequired[Literal['assistant']]
    content: NotRequired[str]
    tool_calls: NotRequired[list[ToolCall1]]
    annotations: NotRequired[list[UrlCitation]]
    reasoning_content: NotRequired[str]
    reasoning_details: NotRequired[list[Any]]


class Choice1(TypedDict):
    index: int
    delta: Delta
    logprobs: None
    finish_reason: Literal['stop', 'length', 'tool_calls', 'content_filter'] | None


class Document(TypedDict):
    id: str
    title: NotRequired[str]
    url: NotRequired[str]
    metadata: NotRequired[Metadata]
    file: NotRequired[DocumentFile]
    source: NotRequired[DocumentSource]
    status: DocumentStatus
    error: NotRequired[DocumentError]
    warnings: NotRequired[list[DocumentWarning]]
    page: NotRequired[int]
    attempts: int
    revision: int
    servedRevision: NotRequired[int]
    chunks: int
    meaning: NotRequired[Meaning]
    characters: int
    createdAt: str
    updatedAt: str


class DocumentCreated(TypedDict):
    id: str
    status: DocumentStatus
    error: NotRequired[DocumentError]
    meaning: NotRequired[Meaning]


class DocumentList(TypedDict):
    documents: list[Document]
    total: NotRequired[int]
    nextCursor: NotRequired[str]


class Error(TypedDict):
    error: ErrorDetail


class FileList(TypedDict):
    object: Literal['list']
    data: list[FileObject]
    first_id: str | None
    last_id: str | None
    has_more: bool


FilterLevel31 = TypedDict(
    'FilterLevel31',
    {
        'and': list[FilterLevel4],
    },
)


FilterLevel32 = TypedDict(
    'FilterLevel32',
    {
        'or': list[FilterLevel4],
    },
)


FilterLevel33 = TypedDict(
    'FilterLevel33',
    {
        'not': FilterLevel4,
    },
)


FilterLevel3: TypeAlias = FieldCondition | FilterLevel31 | FilterLevel32 | FilterLevel33


class Hit(TypedDict):
    id: str
    score: float
    text: str
    title: str
    documentId: str
    url: NotRequired[str]
    metadata: NotRequired[Metadata]
    heading: NotRequired[str]
    start: int
    end: int
    page: NotRequired[int]
    pageEnd: NotRequired[int]
    sheet: NotRequired[str]
    row: NotRequired[int]
    chunkIds: NotRequired[list[str]]
    stages: NotRequired[Stages]


LineResult: TypeAlias = LineStored | LineRefused


class NewFileBatch(TypedDict):
    file_ids: NotRequired[list[FileId] | None]
    files: NotRequired[list[NewVectorStoreFile] | None]
    attributes: NotRequired[Metadata | None]
    chunking_strategy: NotRequired[None]


class QueryResponse(TypedDict):
    query: str
    hits: list[Hit]
    degraded: NotRequired[Literal[True]]


class Agent1(TypedDict):
    hits: NotRequired[list[Hit]]
    approval: NotRequired[Approval]
    finishReason: NotRequired[
        Literal[
            'stop',
            'length',
            'content_filter',
            'tool_calls',
            'round_limit',
            'call_limit',
            'time_limit',
            'token_limit',
            'approval_required',
        ]
    ]
    limitsReached: NotRequired[
        list[Literal['rounds', 'toolCalls', 'seconds', 'tokens']]
    ]
    degraded: NotRequired[Literal[True]]
    searchedFor: NotRequired[str]
    unknownCitations: NotRequired[list[int]]
    artifacts: NotRequired[list[Artifact]]
    error: NotRequired[ErrorDetail]


class Response(TypedDict):
    id: str
    object: Literal['response']
    created_at: int
    completed_at: int | None
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    error: Error2 | None
    incomplete_details: IncompleteDetails | None
    instructions: str | None
    max_output_tokens: int | None
    metadata: dict[str, str]
    model: str
    output: list[ResponseOutputItem]
    parallel_tool_calls: bool
    previous_response_id: str | None
    reasoning: Reasoning
    store: bool
    temperature: float | None
    text: dict[str, Any]
    tool_choice: Any
    tools: list[dict[str, Any]]
    top_p: float | None
    truncation: Literal['auto']
    usage: Usage2 | None
    agent: NotRequired[Agent1]


class ResponseEvent(TypedDict):
    type: Literal[
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.file_search_call.in_progress',
        'response.file_search_call.searching',
        'response.file_search_call.completed',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.annotation.added',
        'response.output_text.done',
        'response.content_part.done',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.output_item.done',
        'response.completed',
        'response.incomplete',
        'response.failed',
        'error',
    ]
    sequence_number: int
    response: NotRequired[Response]
    output_index: NotRequired[int]
    item: NotRequired[ResponseOutputItem]
    item_id: NotRequired[str]
    content_index: NotRequired[int]
    part: NotRequired[Part]
    delta: NotRequired[str]
    text: NotRequired[str]
    logprobs: NotRequired[list[Any]]
    annotation: NotRequired[FileCitation]
    annotation_index: NotRequired[int]
    name: NotRequired[str]
    arguments: NotRequired[str]
    code: NotRequired[str]
    message: NotRequired[str]
    param: NotRequired[str | None]


class Sandbox(TypedDict):
    kind: Literal['embedded', 'bubblewrap', 'docker', 'e2b', 'none']
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]
    limits: NotRequired[Limits]
    verified: NotRequired[SandboxReport]


class AgentExtra(TypedDict):
    hits: list[Hit]
    approval: NotRequired[Approval]
    finishReason: Literal[
        'stop',
        'length',
        'content_filter',
        'tool_calls',
        'round_limit',
        'call_limit',
        'time_limit',
        'token_limit',
        'approval_required',
    ]
    limitsReached: NotRequired[
        list[Literal['rounds', 'toolCalls', 'seconds', 'tokens']]
    ]
    degraded: NotRequired[Literal[True]]
    searchedFor: NotRequired[str]
    unknownCitations: NotRequired[list[int]]
    artifacts: NotRequired[list[Artifact]]


class Capabilities(TypedDict):
    skills: list[Skill]
    sandbox: Sandbox
    mcp: list[McpItem]
    plugins: list[Plugin]
    chat: Chat
    retrieval: Literal['lexical', 'hybrid']
    embedder: Embedder
    reranker: Reranker
    restartRequired: bool


class Completion(TypedDict):
    id: str
    object: Literal['chat.completion']
    created: int
    model: str
    choices: list[Choice]
    usage: NotRequired[CompletionUsage]
    agent: AgentExtra


class CompletionChunk(TypedDict):
    id: str
    object: Literal['chat.completion.chunk']
    created: int
    model: str
    choices: list[Choice1]
    usage: NotRequired[CompletionUsage | None]
    agent: NotRequired[AgentExtra]


class DocumentBatchResult(TypedDict):
    results: list[DocumentCreated | BatchFailure]


class DoneFrame(TypedDict):
    type: Literal['done']
    hits: list[Hit]
    finishReason: Literal[
        'stop',
        'length',
        'content_filter',
        'tool_calls',
        'round_limit',
        'call_limit',
        'time_limit',
        'token_limit',
        'approval_required',
    ]
    limitsReached: NotRequired[
        list[Literal['rounds', 'toolCalls', 'seconds', 'tokens']]
    ]
    degraded: NotRequired[Literal[True]]
    searchedFor: NotRequired[str]
    unknownCitations: NotRequired[list[int]]
    artifacts: NotRequired[list[Artifact]]
    usage: NotRequired[Usage]


FilterLevel21 = TypedDict(
    'FilterLevel21',
    {
        'and': list[FilterLevel3],
    },
)


FilterLevel22 = TypedDict(
    'FilterLevel22',
    {
        'or': list[FilterLevel3],
    },
)


FilterLevel23 = TypedDict(
    'FilterLevel23',
    {
        'not': FilterLevel3,
    },
)


FilterLevel2: TypeAlias = FieldCondition | FilterLevel21 | FilterLevel22 | FilterLevel23


ChatFrame: TypeAlias = (
    TextDeltaFrame
    | ToolCallFrame
    | ToolResultFrame
    | ApprovalRequiredFrame
    | DoneFrame
    | ErrorFrame
)


Filter1 = TypedDict(
    'Filter1',
    {
        'and': list[FilterLevel2],
    },
)


Filter2 = TypedDict(
    'Filter2',
    {
        'or': list[FilterLevel2],
    },
)


Filter3 = TypedDict(
    'Filter3',
    {
        'not': FilterLevel2,
    },
)


Filter: TypeAlias = FieldCondition | Filter1 | Filter2 | Filter3


class QueryRequest(TypedDict):
    query: str
    topK: NotRequired[int | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    collection: NotRequired[str | None]
    explain: NotRequired[bool | None]


class ResponseRequest(TypedDict):
    model: NotRequired[str | None]
    input: str | list[ResponseInputItem]
    instructions: NotRequired[str | None]
    previous_response_id: NotRequired[str | None]
    store: NotRequired[bool | None]
    stream: NotRequired[bool | None]
    include: NotRequired[
        list[
            Literal[
                'file_search_call.results',
                'reasoning.encrypted_content',
                'web_search_call.results',
                'web_search_call.action.sources',
                'message.input_image.image_url',
                'computer_call_output.output.image_url',
                'code_interpreter_call.outputs',
            ]
        ]
        | None
    ]
    max_output_tokens: NotRequired[int | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    reasoning: NotRequired[Reasoning1 | None]
    text: NotRequired[Text | None]
    tools: NotRequired[list[Tools | Tools1] | None]
    tool_choice: NotRequired[
        Literal['none', 'auto', 'required'] | ToolChoice | ToolChoice1 | None
    ]
    metadata: NotRequired[dict[str, str] | None]
    truncation: NotRequired[Literal['auto'] | None]
    parallel_tool_calls: NotRequired[Literal[True] | None]
    background: NotRequired[Literal[False] | None]
    conversation: NotRequired[None]
    prompt: NotRequired[None]
    max_tool_calls: NotRequired[None]
    top_logprobs: NotRequired[None]
    topK: NotRequired[int | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]


class ChatRequest(TypedDict):
    messages: list[ChatMessage]
    topK: NotRequired[int | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]
    includeSteps: NotRequired[bool | None]


class CompletionRequest(TypedDict):
    model: NotRequired[str | None]
    messages: list[CompletionMessage]
    stream: NotRequired[bool | None]
    stream_options: NotRequired[StreamOptions | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    n: NotRequired[Literal[1] | None]
    stop: NotRequired[str | list[StopItem] | None]
    max_tokens: NotRequired[int | None]
    max_completion_tokens: NotRequired[int | None]
    presence_penalty: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    seed: NotRequired[int | None]
    response_format: NotRequired[dict[str, Any] | None]
    reasoning_effort: NotRequired[str | None]
    tools: NotRequired[list[Tool1] | None]
    tool_choice: NotRequired[str | dict[str, Any] | None]
    topK: NotRequired[int | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]
