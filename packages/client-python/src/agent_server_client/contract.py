# Generated from /openapi.json by generate_types.py; a test compares the two. Do not edit.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from typing_extensions import NotRequired


class Profile(TypedDict):
    description: str
    model: str
    retrieval: Literal['lexical', 'hybrid']
    images: bool


class Tool(TypedDict):
    name: str
    source: str


class Agent1(TypedDict):
    name: str
    description: NotRequired[str]


class Skill(TypedDict):
    name: str
    description: str


class Agent(TypedDict):
    name: str
    profile: Profile
    tools: list[Tool]
    agents: NotRequired[list[Agent1]]
    skills: NotRequired[list[Skill]]


class Prompt(TypedDict):
    rules: str
    catalogue: str
    assembled: str


class CitationCheck(TypedDict):
    statements: int
    tokens: int
    warning: NotRequired[str]


class Conversation(TypedDict):
    id: str


class Error(TypedDict):
    code: str
    message: str


class IncompleteDetails(TypedDict):
    reason: str


class Reasoning(TypedDict):
    effort: str | None
    summary: str | None


class InputTokensDetails(TypedDict):
    cached_tokens: int
    cache_write_tokens: int


class OutputTokensDetails(TypedDict):
    reasoning_tokens: int


class Usage(TypedDict):
    input_tokens: int
    input_tokens_details: InputTokensDetails
    output_tokens: int
    output_tokens_details: OutputTokensDetails
    total_tokens: int


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


class AnswerStep(TypedDict):
    callId: str
    tool: str
    input: Any
    output: NotRequired[str]
    isError: NotRequired[bool]
    milliseconds: NotRequired[int]


class AnthropicCitationCharLocation(TypedDict):
    type: Literal['char_location']
    cited_text: str
    document_index: int
    document_title: str | None
    file_id: str
    start_char_index: int
    end_char_index: int


class AnthropicCitationWebSearchResultLocation(TypedDict):
    type: Literal['web_search_result_location']
    cited_text: str
    encrypted_index: str
    title: str | None
    url: str


class AnthropicContentBlockRedactedThinking(TypedDict):
    type: Literal['redacted_thinking']
    data: str


class AnthropicContentBlockThinking(TypedDict):
    type: Literal['thinking']
    thinking: str
    signature: str


class AnthropicContentBlockToolUse(TypedDict):
    type: Literal['tool_use']
    id: str
    name: str
    input: Any


class Content(TypedDict):
    type: str


class Tools(TypedDict):
    type: NotRequired[Literal['custom'] | None]
    name: str
    description: NotRequired[str | None]
    input_schema: dict[str, Any]


class Tools1(TypedDict):
    type: str
    name: NotRequired[str | None]


class ToolChoice(TypedDict):
    type: Literal['auto', 'any', 'none']


class ToolChoice1(TypedDict):
    type: Literal['tool']
    name: str


class Thinking(TypedDict):
    type: str


class Format(TypedDict):
    type: Literal['json_schema']
    schema: dict[str, Any]


class OutputConfig(TypedDict):
    effort: NotRequired[Literal['low', 'medium', 'high', 'xhigh', 'max'] | None]
    format: NotRequired[Format | None]


class Source(TypedDict):
    type: Literal['text']
    data: str


class Source1(TypedDict):
    type: Literal['base64']
    media_type: NotRequired[str | None]
    data: str


class Source2(TypedDict):
    type: Literal['file']
    file_id: str


class ContentItem(TypedDict):
    type: Literal['text']
    text: str


class Source3(TypedDict):
    type: Literal['content']
    content: str | list[ContentItem]


class Source4(TypedDict):
    type: str


class AnthropicDocumentBlock(TypedDict):
    type: Literal['document']
    title: NotRequired[str | None]
    source: Source | Source1 | Source2 | Source3 | Source4


class Details(TypedDict):
    error_code: str


class Error1(TypedDict):
    type: str
    message: str
    code: str
    param: str | None
    details: NotRequired[Details]


class AnthropicError(TypedDict):
    type: Literal['error']
    error: Error1
    request_id: str


class Delta(TypedDict):
    type: Literal['text_delta']
    text: str


class Delta1(TypedDict):
    type: Literal['thinking_delta']
    thinking: str


class Delta2(TypedDict):
    type: Literal['input_json_delta']
    partial_json: str


class AnthropicEventContentBlockStop(TypedDict):
    type: Literal['content_block_stop']
    index: int


class Delta4(TypedDict):
    stop_reason: Literal[
        'end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'
    ]
    stop_sequence: str | None


class AnthropicEventMessageStop(TypedDict):
    type: Literal['message_stop']


class Source5(TypedDict):
    type: Literal['base64']
    media_type: Literal['image/jpeg', 'image/png', 'image/gif', 'image/webp']
    data: str


class Source6(TypedDict):
    type: Literal['url']
    url: str


class AnthropicImageBlock(TypedDict):
    type: Literal['image']
    source: Source5 | Source6


class AnthropicRedactedThinkingBlock(TypedDict):
    type: Literal['redacted_thinking']
    data: str


class Tools2(TypedDict):
    type: NotRequired[Literal['custom'] | None]
    name: str
    description: NotRequired[str | None]
    input_schema: dict[str, Any]


class Tools3(TypedDict):
    type: str
    name: NotRequired[str | None]


class ToolChoice2(TypedDict):
    type: Literal['auto', 'any', 'none']


class ToolChoice3(TypedDict):
    type: Literal['tool']
    name: str


class OutputConfig1(TypedDict):
    effort: NotRequired[Literal['low', 'medium', 'high', 'xhigh', 'max'] | None]
    format: NotRequired[Format | None]


StopSequence: TypeAlias = str


class AnthropicTextBlock(TypedDict):
    type: Literal['text']
    text: str


class AnthropicTokenCount(TypedDict):
    input_tokens: int


class AnthropicToolUseBlock(TypedDict):
    type: Literal['tool_use']
    id: str
    name: str
    input: dict[str, Any]


class AnthropicUsage(TypedDict):
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int


Collection: TypeAlias = str


class ApiKey(TypedDict):
    id: str
    name: str
    scopes: list[Literal['query', 'chat', 'ingest', 'admin', 'act-as']]
    collections: NotRequired[list[Collection]]
    requestsPerMinute: NotRequired[int]
    tokensPerDay: NotRequired[int]
    costPerDay: NotRequired[float]
    tokensToday: int
    expiresAt: NotRequired[str]
    createdAt: str
    createdBy: NotRequired[str]
    lastUsedAt: NotRequired[str]


class ApiKeyCreated(TypedDict):
    id: str
    name: str
    scopes: list[Literal['query', 'chat', 'ingest', 'admin', 'act-as']]
    collections: NotRequired[list[Collection]]
    requestsPerMinute: NotRequired[int]
    tokensPerDay: NotRequired[int]
    costPerDay: NotRequired[float]
    tokensToday: int
    expiresAt: NotRequired[str]
    createdAt: str
    createdBy: NotRequired[str]
    lastUsedAt: NotRequired[str]
    secret: str


class ApiKeyList(TypedDict):
    keys: list[ApiKey]


class Artifact(TypedDict):
    id: str
    name: str
    mediaType: str
    size: int
    url: str
    link: NotRequired[str]
    expiresAt: str


class AuditEntry(TypedDict):
    number: int
    at: str
    who: str
    address: NotRequired[str]
    action: str
    status: NotRequired[int]
    targets: dict[str, str | list[str]]


class AuditPage(TypedDict):
    entries: list[AuditEntry]
    nextCursor: NotRequired[str]


class Skill1(TypedDict):
    name: str
    description: str
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]
    source: NotRequired[str]
    warnings: NotRequired[list[str]]


class RefusedItem(TypedDict):
    name: str
    reason: str


class McpItem(TypedDict):
    name: str
    url: str
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]
    perPerson: NotRequired[bool]
    transport: NotRequired[Literal['streamable-http', 'sse']]
    protocol: NotRequired[str]
    tools: NotRequired[int]
    waiting: NotRequired[list[str]]
    refused: NotRequired[list[RefusedItem]]


class Plugin(TypedDict):
    name: str
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]


class Chat(TypedDict):
    model: str
    tools: bool
    images: bool
    api: NotRequired[Literal['responses', 'chat-completions', 'messages']]
    refused: NotRequired[list[str]]
    window: int
    leftOut: NotRequired[list[str]]


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


Image: TypeAlias = str


class ChatMessage(TypedDict):
    role: Literal['user', 'assistant', 'system']
    content: str
    images: NotRequired[list[Image]]


class Conversation1(TypedDict):
    id: str
    parent: NotRequired[str | None]


class Chunk(TypedDict):
    id: str
    text: str
    heading: NotRequired[str]
    start: int
    end: int
    page: NotRequired[int]
    pageEnd: NotRequired[int]
    pictureDescription: NotRequired[bool]


class ChunkList(TypedDict):
    chunks: list[Chunk]
    nextCursor: NotRequired[str]


class Quote(TypedDict):
    text: str
    start: NotRequired[int]
    end: NotRequired[int]
    page: NotRequired[int]


class Citation(TypedDict):
    at: int
    number: int
    by: NotRequired[Literal['model', 'server']]
    quotes: list[Quote]
    supported: NotRequired[bool]
    verdict: NotRequired[Literal['supported', 'contradicted', 'not_said']]
    evidence: NotRequired[str]


class CitationsFrame(TypedDict):
    type: Literal['citations']
    citations: list[Citation]


AccessItem: TypeAlias = str


Contributor: TypeAlias = str


Owner: TypeAlias = str


class Collection2(TypedDict):
    name: str
    documents: int
    role: NotRequired[Literal['reader', 'contributor', 'owner']]
    creator: NotRequired[str]
    createdAt: NotRequired[str]
    access: NotRequired[list[AccessItem]]
    contributors: NotRequired[list[Contributor]]
    owners: NotRequired[list[Owner]]


class CollectionList(TypedDict):
    collections: list[Collection2]


class Expected(TypedDict):
    access: NotRequired[list[AccessItem]]
    contributors: NotRequired[list[Contributor]]
    owners: NotRequired[list[Owner]]


class CollectionPatch(TypedDict):
    access: NotRequired[list[AccessItem]]
    contributors: NotRequired[list[Contributor]]
    owners: NotRequired[list[Owner]]
    expected: NotRequired[Expected]


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


class Content3(TypedDict):
    type: Literal['text']
    text: str


class ImageUrl(TypedDict):
    url: str
    detail: NotRequired[str | None]


class Content4(TypedDict):
    type: Literal['image_url']
    image_url: ImageUrl


class File(TypedDict):
    filename: NotRequired[str | None]
    file_data: NotRequired[str | None]
    file_id: NotRequired[str | None]


class Content5(TypedDict):
    type: Literal['file']
    file: File


class Content6(TypedDict):
    type: str


class Content7(TypedDict):
    type: Literal['refusal']
    refusal: str


class ToolCalls(TypedDict):
    id: str
    type: NotRequired[Literal['function']]
    function: Function
    extra_content: NotRequired[dict[str, Any] | None]


class Custom(TypedDict):
    name: str
    input: str


class ToolCalls1(TypedDict):
    id: str
    type: Literal['custom']
    custom: Custom


class CompletionMessageAssistant(TypedDict):
    role: Literal['assistant']
    content: NotRequired[
        str | list[Content3 | Content4 | Content5 | Content6 | Content7] | None
    ]
    refusal: NotRequired[str | None]
    tool_calls: NotRequired[list[ToolCalls | ToolCalls1] | None]
    reasoning_content: NotRequired[str | None]
    reasoning_details: NotRequired[list[dict[str, Any]] | None]


class Content8(TypedDict):
    type: Literal['text']
    text: str


class Content9(TypedDict):
    type: Literal['image_url']
    image_url: ImageUrl


class Content10(TypedDict):
    type: Literal['file']
    file: File


class Content11(TypedDict):
    type: str


class Content12(TypedDict):
    type: Literal['refusal']
    refusal: str


class CompletionMessageSystem(TypedDict):
    role: Literal['system', 'developer']
    content: str | list[Content8 | Content9 | Content10 | Content11 | Content12]


class Content13(TypedDict):
    type: Literal['text']
    text: str


class Content14(TypedDict):
    type: Literal['image_url']
    image_url: ImageUrl


class Content15(TypedDict):
    type: Literal['file']
    file: File


class Content16(TypedDict):
    type: str


class Content17(TypedDict):
    type: Literal['refusal']
    refusal: str


class CompletionMessageTool(TypedDict):
    role: Literal['tool']
    content: str | list[Content13 | Content14 | Content15 | Content16 | Content17]
    tool_call_id: str


class Content18(TypedDict):
    type: Literal['text']
    text: str


class Content19(TypedDict):
    type: Literal['image_url']
    image_url: ImageUrl


class Content20(TypedDict):
    type: Literal['file']
    file: File


class Content21(TypedDict):
    type: str


class Content22(TypedDict):
    type: Literal['refusal']
    refusal: str


class CompletionMessageUser(TypedDict):
    role: Literal['user']
    content: str | list[Content18 | Content19 | Content20 | Content21 | Content22]


class StreamOptions(TypedDict):
    include_usage: NotRequired[bool | None]


StopItem: TypeAlias = str


class Function3(TypedDict):
    name: str
    description: NotRequired[str | None]
    parameters: NotRequired[dict[str, Any] | None]


class Tools4(TypedDict):
    type: Literal['function']
    function: Function3


class Tools5(TypedDict):
    type: str


class Function4(TypedDict):
    name: str


class ToolChoice4(TypedDict):
    type: Literal['function']
    function: Function4


class PromptTokensDetails(TypedDict):
    cached_tokens: int
    cache_write_tokens: NotRequired[int]


class CompletionTokensDetails(TypedDict):
    reasoning_tokens: int


class CompletionUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: NotRequired[PromptTokensDetails]
    completion_tokens_details: NotRequired[CompletionTokensDetails]


class Conversation2(TypedDict):
    id: str
    object: Literal['conversation']
    created_at: int
    metadata: dict[str, str]
    title: str | None
    updated_at: int
    last_item_id: str | None
    access: NotRequired[list[AccessItem]]
    shared: NotRequired[bool]


class ConversationDeleted(TypedDict):
    id: str
    object: Literal['conversation.deleted']
    deleted: bool


class ConversationList(TypedDict):
    object: Literal['list']
    data: list[Conversation2]
    first_id: str | None
    last_id: str | None
    has_more: bool


class Expected1(TypedDict):
    access: NotRequired[list[AccessItem]]


class ConversationPatch(TypedDict):
    metadata: NotRequired[dict[str, str]]
    title: NotRequired[str | None]
    last_item_id: NotRequired[str | None]
    access: NotRequired[list[AccessItem]]
    expected: NotRequired[Expected1]


class Correction(TypedDict):
    typed: str
    corrected: str


Collection3: TypeAlias = str


class CreateApiKey(TypedDict):
    name: str
    scopes: list[Literal['query', 'chat', 'ingest', 'admin', 'act-as']]
    collections: NotRequired[list[Collection3] | None]
    requestsPerMinute: NotRequired[int | None]
    tokensPerDay: NotRequired[int | None]
    costPerDay: NotRequired[float | None]
    expiresAt: NotRequired[str | None]


class CreateCollection(TypedDict):
    access: NotRequired[list[AccessItem]]
    contributors: NotRequired[list[Contributor]]
    owners: NotRequired[list[Owner]]
    name: str


class CreateDocumentFile(TypedDict):
    file: bytes
    title: NotRequired[str]
    url: NotRequired[str]
    collection: NotRequired[str]
    access: NotRequired[str]
    conversation: NotRequired[str]
    metadata: NotRequired[str]


class CreateFile(TypedDict):
    file: bytes
    purpose: NotRequired[str]


FileId: TypeAlias = str


class ChunkingStrategy(TypedDict):
    type: Literal['auto']


Fact: TypeAlias = str


class CreateSyncDirectory(TypedDict):
    name: str
    parent_id: NotRequired[str | None]


class CreateVectorStore(TypedDict):
    name: NotRequired[str | None]
    file_ids: NotRequired[list[FileId] | None]
    expires_after: NotRequired[str | None]
    chunking_strategy: NotRequired[ChunkingStrategy | None]


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


class File4(TypedDict):
    name: str
    text: str


class Command(TypedDict):
    title: str
    run: str


class Deployment(TypedDict):
    target: str
    refusals: list[Refusal]
    warnings: list[Warning]
    files: list[File4]
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


class Embeddings(TypedDict):
    missing: int
    seconds: NotRequired[int]


class Pictures(TypedDict):
    described: int
    missing: int
    refused: int
    reason: NotRequired[str]


class DocumentError(TypedDict):
    code: str
    message: str


class DocumentFile(TypedDict):
    name: str
    mediaType: str
    size: int
    sha256: NotRequired[str]


class Expected2(TypedDict):
    title: NotRequired[str]
    metadata: NotRequired[dict[str, str | float | bool | None]]
    access: NotRequired[list[AccessItem] | None]


class DocumentPatch(TypedDict):
    title: NotRequired[str]
    metadata: NotRequired[dict[str, str | float | bool | None]]
    expected: NotRequired[Expected2]
    conversation: NotRequired[str | None]
    access: NotRequired[list[AccessItem] | None]


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


class UnavailableItem(TypedDict):
    part: Literal['mcp', 'skill', 'plugin']
    name: str
    reason: str


class DraftFrame(TypedDict):
    type: Literal['draft']
    unavailable: list[UnavailableItem]


class Elicitation(TypedDict):
    id: str
    message: str
    requestedSchema: dict[str, Any]


class Datum(TypedDict):
    object: Literal['embedding']
    index: int
    embedding: list[float] | str


class Usage1(TypedDict):
    prompt_tokens: int
    total_tokens: int


class Embeddings2(TypedDict):
    object: Literal['list']
    model: str
    data: list[Datum]
    usage: Usage1


InputItem: TypeAlias = int


class EmbeddingsRequest(TypedDict):
    model: NotRequired[str | None]
    input: str | list[str | list[InputItem]] | list[InputItem]
    encoding_format: NotRequired[Literal['float', 'base64'] | None]
    dimensions: NotRequired[int | None]


ErrorCode: TypeAlias = Literal[
    'invalid_request',
    'context_length_exceeded',
    'unauthorized',
    'insufficient_scope',
    'collection_not_allowed',
    'not_permitted',
    'fetch_not_allowed',
    'origin_not_allowed',
    'groups_unknown',
    'document_not_found',
    'collection_not_found',
    'file_not_found',
    'connection_not_found',
    'artifact_not_found',
    'conversation_not_found',
    'item_not_found',
    'feedback_not_found',
    'evaluation_not_found',
    'question_not_found',
    'response_not_found',
    'batch_not_found',
    'version_not_found',
    'model_not_found',
    'run_not_found',
    'key_not_found',
    'person_not_found',
    'route_not_found',
    'method_not_allowed',
    'request_timeout',
    'document_not_failed',
    'document_not_ready',
    'edit_conflict',
    'collection_exists',
    'collection_not_empty',
    'not_writable',
    'not_startable',
    'conversation_full',
    'too_many_keys',
    'evaluation_running',
    'too_many_questions',
    'idempotency_conflict',
    'body_too_large',
    'unsupported_media_type',
    'range_not_satisfiable',
    'queue_full',
    'too_many_uploads',
    'too_many_requests',
    'too_many_attempts',
    'rate_limited',
    'too_many_runs',
    'internal',
    'web_ui_unavailable',
    'fetch_failed',
    'upstream_failed',
    'upstream_refused',
    'upstream_unauthorized',
    'upstream_model_not_found',
    'upstream_rate_limited',
    'upstream_timeout',
    'index_unavailable',
    'index_not_ready',
    'issuer_unavailable',
    'sandbox_unavailable',
    'store_unavailable',
    'not_launched',
    'shutting_down',
    'storage_full',
]


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
    code: ErrorCode
    param: str | None
    request_id: str


class ErrorFrame(TypedDict):
    type: Literal['error']
    error: ErrorDetail


class Measures(TypedDict):
    before: float
    now: float
    difference: float


class Tests(TypedDict):
    questions: int
    difference: float
    significant: bool


class Differs(TypedDict):
    before: float
    now: float


class Answers(TypedDict):
    before: str
    now: str


class Question(TypedDict):
    id: str
    text: str
    differs: dict[str, Differs]
    answers: NotRequired[Answers]


class Row(TypedDict):
    name: str
    measures: dict[str, Measures]
    tests: dict[str, Tests]
    questions: list[Question]


class Models(TypedDict):
    chat: str
    embedding: NotRequired[str]
    rerank: NotRequired[str]


class Question1(TypedDict):
    id: str
    text: str
    answer: NotRequired[str]
    values: dict[str, float]


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
    by: NotRequired[Literal['model', 'server']]
    quotes: list[Quote]
    supported: NotRequired[bool]
    verdict: NotRequired[Literal['supported', 'contradicted', 'not_said']]
    evidence: NotRequired[str]


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


class InputTokens(TypedDict):
    object: Literal['response.input_tokens']
    input_tokens: int


class RelevantItem(TypedDict):
    documentId: str
    page: NotRequired[int]
    grade: float


class JudgedQuestion(TypedDict):
    id: str
    question: str
    relevant: list[RelevantItem]
    facts: NotRequired[list[str]]
    kind: NotRequired[str]
    collection: NotRequired[str]
    createdAt: str
    updatedAt: str


class JudgedQuestionList(TypedDict):
    questions: list[JudgedQuestion]


class KnownPerson(TypedDict):
    id: str
    name: NotRequired[str]
    email: NotRequired[str]
    groups: list[str]
    firstSeenAt: str
    lastSeenAt: str
    tokensPerDay: NotRequired[int]
    costPerDay: NotRequired[float]


class Error3(TypedDict):
    code: str
    message: str
    param: str | None


class LineRefused(TypedDict):
    line: int
    error: Error3


class Embeddings3(TypedDict):
    missing: int
    seconds: NotRequired[int]


class LineStored(TypedDict):
    id: str
    status: DocumentStatus
    error: NotRequired[DocumentError]
    embeddings: NotRequired[Embeddings3]
    sameFile: NotRequired[str]
    line: int


class Server(TypedDict):
    name: str
    baseUrl: str
    models: list[str]


class LocalModelServers(TypedDict):
    servers: list[Server]


class LogEvent(TypedDict):
    id: int
    at: str
    type: Literal['log']
    level: Literal['trace', 'debug', 'info', 'warn', 'error', 'fatal']
    message: str
    requestId: NotRequired[str]
    details: dict[str, Any]


class Account(TypedDict):
    connection: str
    connectedAt: NotRequired[str]


class McpAccountList(TypedDict):
    accounts: list[Account]


class McpAccountStart(TypedDict):
    url: str


class McpAnswer(TypedDict):
    jsonrpc: NotRequired[str]


class McpMessage(TypedDict):
    pass


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
    unlistedHost: NotRequired[str]


class Server1(TypedDict):
    name: str
    version: str
    transport: Literal['streamable-http', 'sse']
    protocol: str


class Tool1(TypedDict):
    name: str
    remoteName: str
    description: str
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]


class McpTestResult(TypedDict):
    connection: str
    ok: bool
    steps: list[Step]
    server: NotRequired[Server1]
    digest: str
    tools: list[Tool1]
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
    type: Literal['model']
    display_name: str
    created_at: str


class ModelList(TypedDict):
    object: Literal['list']
    data: list[Model]
    has_more: bool
    first_id: str
    last_id: str


class Chat1(TypedDict):
    answer: str
    firstMilliseconds: NotRequired[float]
    streams: bool
    api: NotRequired[Literal['responses', 'chat-completions', 'messages']]
    tools: Literal['called', 'ignored', 'none']
    images: Literal['seen', 'ignored', 'none']
    reasoning: NotRequired[Literal['none', 'summary', 'text']]
    window: int
    promptTokens: NotRequired[int]
    promptTokensEstimated: NotRequired[bool]
    tokensPerSecond: NotRequired[float]
    leftOut: list[str]


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
    closesOn: NotRequired[str]
    warning: NotRequired[str]
    error: NotRequired[str]
    chat: NotRequired[Chat1]
    embedding: NotRequired[Embedding]
    reranking: NotRequired[Reranking]


ClearItem: TypeAlias = str


class ModelTestRequest(TypedDict):
    set: NotRequired[dict[str, str]]
    clear: NotRequired[list[ClearItem] | None]
    kind: Literal['chat', 'embedding', 'reranking']


class OllamaAnswerSchema(TypedDict):
    type: NotRequired[Any]


class Function5(TypedDict):
    index: int
    name: str
    arguments: Any


class ToolCall2(TypedDict):
    id: str
    function: Function5


class Message3(TypedDict):
    role: Literal['assistant']
    content: str
    thinking: NotRequired[str]
    tool_calls: NotRequired[list[ToolCall2]]


class Function6(TypedDict):
    name: str
    arguments: dict[str, Any]


class ToolCall3(TypedDict):
    id: NotRequired[str | None]
    function: Function6


class Message4(TypedDict):
    role: Literal['system', 'user', 'assistant', 'tool']
    content: NotRequired[str | None]
    images: NotRequired[list[Image] | None]
    tool_calls: NotRequired[list[ToolCall3] | None]
    tool_name: NotRequired[str | None]
    tool_call_id: NotRequired[str | None]


class Function7(TypedDict):
    name: str
    description: NotRequired[str | None]
    parameters: NotRequired[dict[str, Any] | None]


class Tool2(TypedDict):
    type: NotRequired[Literal['function']]
    function: Function7


class Options(TypedDict):
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[StopItem] | None]
    presence_penalty: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    seed: NotRequired[int | None]
    num_predict: NotRequired[int | None]


InputItem2: TypeAlias = str


class OllamaEmbedRequest(TypedDict):
    model: NotRequired[str | None]
    input: str | list[InputItem2]
    dimensions: NotRequired[int | None]


class OllamaEmbedding(TypedDict):
    embedding: list[float]


class OllamaEmbeddingRequest(TypedDict):
    model: NotRequired[str | None]
    prompt: str


class OllamaEmbeddings(TypedDict):
    model: str
    embeddings: list[list[float]]
    total_duration: int
    load_duration: int
    prompt_eval_count: int


class OllamaError(TypedDict):
    error: str
    code: str
    param: str | None
    request_id: str


class Options1(TypedDict):
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[StopItem] | None]
    presence_penalty: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    seed: NotRequired[int | None]
    num_predict: NotRequired[int | None]


class Details1(TypedDict):
    parent_model: str
    format: str
    family: str
    families: list[str]
    parameter_size: str
    quantization_level: str


class OllamaModelInfo(TypedDict):
    modelfile: str
    parameters: str
    template: str
    license: str
    modified_at: str
    details: Details1
    model_info: dict[str, Any]
    capabilities: list[str]


class Model1(TypedDict):
    name: str
    model: str
    modified_at: str
    size: int
    digest: str
    details: Details1


class OllamaModels(TypedDict):
    models: list[Model1]


class OllamaShowRequest(TypedDict):
    model: NotRequired[str | None]
    name: NotRequired[str | None]


class OllamaVersion(TypedDict):
    version: str


class Today(TypedDict):
    calls: int
    inputTokens: int
    cachedTokens: int
    outputTokens: int
    cost: NotRequired[float]
    unpricedCalls: NotRequired[int]


class PeopleList(TypedDict):
    people: list[KnownPerson]
    nextCursor: NotRequired[str]


class PersonChange(TypedDict):
    tokensPerDay: NotRequired[int | None]
    costPerDay: NotRequired[float | None]


class Removed(TypedDict):
    sessions: int
    conversations: int
    documents: int
    feedback: int
    artifacts: int
    keys: int
    accounts: int


class HandedOn(TypedDict):
    to: NotRequired[str]
    documents: int
    collections: int


class PersonRemoved(TypedDict):
    id: str
    dryRun: bool
    removed: Removed
    handedOn: HandedOn


class ProgressFrame(TypedDict):
    type: Literal['progress']
    phase: Literal['loading', 'prefill']
    processed: NotRequired[int]
    total: NotRequired[int]


class ProviderModels(TypedDict):
    models: list[str]
    closings: dict[str, str]


Rating: TypeAlias = Literal['up', 'down']


class Checks(TypedDict):
    state: Literal['ok', 'failed']
    milliseconds: float
    message: NotRequired[str]


class Warning1(TypedDict):
    code: Literal['model_closes', 'clock_jumped', 'language_mismatch']
    model: NotRequired[str]
    closesOn: NotRequired[str]
    message: str


class Embeddings4(TypedDict):
    state: Literal['done', 'embedding', 'waiting']
    missing: int
    refused: int
    seconds: NotRequired[int]
    reason: NotRequired[str]


class Contexts(TypedDict):
    state: Literal['done', 'writing', 'waiting']
    missing: int
    refused: int
    seconds: NotRequired[int]
    reason: NotRequired[str]
    tokens: int


class Pictures1(TypedDict):
    state: Literal['done', 'writing', 'waiting']
    missing: int
    refused: int
    seconds: NotRequired[int]
    reason: NotRequired[str]
    tokens: int


class ReEmbedding(TypedDict):
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
    degraded: NotRequired[bool]
    warnings: NotRequired[list[Warning1]]
    embeddings: NotRequired[Embeddings4]
    contexts: NotRequired[Contexts]
    pictures: NotRequired[Pictures1]
    reEmbedding: NotRequired[ReEmbedding]
    documents: NotRequired[Documents]


class ReasoningDeltaFrame(TypedDict):
    type: Literal['reasoning-delta']
    text: str


class RelevantDocument(TypedDict):
    documentId: str
    page: NotRequired[int | None]
    grade: NotRequired[float | None]


class Removed1(TypedDict):
    id: str
    object: str
    deleted: bool


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


class ResponseDeleted(TypedDict):
    id: str
    object: Literal['response']
    deleted: bool


class Part(TypedDict):
    type: Literal['output_text']
    text: str
    annotations: list[FileCitation]
    logprobs: list[Any]


class Part1(TypedDict):
    type: Literal['summary_text']
    text: str


class ResponseInputItemAdditionalTools(TypedDict):
    type: Literal[
        'additional_tools',
        'apply_patch_call',
        'apply_patch_call_output',
        'code_interpreter_call',
        'compaction',
        'compaction_trigger',
        'computer_call',
        'computer_call_output',
        'configuration_update',
        'image_generation_call',
        'local_shell_call',
        'local_shell_call_output',
        'mcp_approval_request',
        'mcp_approval_response',
        'mcp_call',
        'mcp_list_tools',
        'program',
        'program_output',
        'shell_call',
        'shell_call_output',
        'tool_search_call',
        'tool_search_output',
        'web_search_call',
    ]


class ResponseInputItemCustomToolCall(TypedDict):
    type: Literal['custom_tool_call']
    call_id: str
    name: str
    input: str


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


class Output3(TypedDict):
    type: Literal['input_file']
    filename: NotRequired[str | None]
    file_data: NotRequired[str | None]
    file_id: NotRequired[str | None]
    file_url: NotRequired[str | None]


class ResponseInputItemCustomToolCallOutput(TypedDict):
    type: Literal['custom_tool_call_output']
    call_id: str
    output: str | list[Output | Output1 | Output2 | Output3]


class ResponseInputItemFileSearchCall(TypedDict):
    type: Literal['file_search_call']


class ResponseInputItemFunctionCall(TypedDict):
    type: Literal['function_call']
    call_id: str
    name: str
    arguments: str
    extra_content: NotRequired[dict[str, Any] | None]


class Output4(TypedDict):
    type: Literal['input_text', 'output_text', 'text']
    text: str


class Output5(TypedDict):
    type: Literal['refusal']
    refusal: str


class Output6(TypedDict):
    type: Literal['input_image']
    image_url: str
    detail: NotRequired[str | None]


class Output7(TypedDict):
    type: Literal['input_file']
    filename: NotRequired[str | None]
    file_data: NotRequired[str | None]
    file_id: NotRequired[str | None]
    file_url: NotRequired[str | None]


class ResponseInputItemFunctionCallOutput(TypedDict):
    type: Literal['function_call_output']
    call_id: str
    output: str | list[Output4 | Output5 | Output6 | Output7]


class ResponseInputItemItemReference(TypedDict):
    type: Literal['item_reference']
    id: str


class Content23(TypedDict):
    type: Literal['input_text', 'output_text', 'text']
    text: str


class Content24(TypedDict):
    type: Literal['refusal']
    refusal: str


class Content25(TypedDict):
    type: Literal['input_image']
    image_url: str
    detail: NotRequired[str | None]


class Content26(TypedDict):
    type: Literal['input_file']
    filename: NotRequired[str | None]
    file_data: NotRequired[str | None]
    file_id: NotRequired[str | None]
    file_url: NotRequired[str | None]


class ResponseInputItemMessage(TypedDict):
    type: NotRequired[Literal['message']]
    role: Literal['user', 'assistant', 'system', 'developer']
    content: str | list[Content23 | Content24 | Content25 | Content26]


class ResponseInputItemReasoning(TypedDict):
    type: Literal['reasoning']
    encrypted_content: NotRequired[str | None]


class Result(TypedDict):
    file_id: str
    filename: str
    score: float
    text: str
    attributes: dict[str, Any]
    vector_store_id: str | None


class ResponseOutputItemFileSearchCall(TypedDict):
    type: Literal['file_search_call']
    id: str
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    queries: list[str]
    results: list[Result] | None


class ResponseOutputItemFunctionCall(TypedDict):
    type: Literal['function_call']
    id: str
    call_id: str
    name: str
    arguments: str
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    extra_content: NotRequired[Any]


class ContentItem1(TypedDict):
    type: Literal['output_text']
    text: str
    annotations: list[FileCitation]
    logprobs: list[Any]


class ResponseOutputItemMessage(TypedDict):
    type: Literal['message']
    id: str
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    role: Literal['assistant']
    content: list[ContentItem1]


class SummaryItem(TypedDict):
    type: Literal['summary_text']
    text: str


class ResponseOutputItemReasoning(TypedDict):
    type: Literal['reasoning']
    id: str
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    summary: list[SummaryItem]
    encrypted_content: NotRequired[str]


class Reasoning1(TypedDict):
    effort: NotRequired[str | None]


class Format2(TypedDict):
    type: Literal['text', 'json_object', 'json_schema']


class Text(TypedDict):
    format: NotRequired[Format2 | None]
    verbosity: NotRequired[Literal['low', 'medium', 'high'] | None]


class Tools6(TypedDict):
    type: Literal['function']
    name: str
    description: NotRequired[str | None]
    parameters: NotRequired[dict[str, Any] | None]
    strict: NotRequired[bool | None]


VectorStoreId: TypeAlias = str


class Filters(TypedDict):
    type: Literal['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'ne', 'nin']
    key: str
    value: str | float | bool | list[str | float | bool]


class Filter4(TypedDict):
    type: Literal['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'ne', 'nin']
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


class RankingOptions(TypedDict):
    ranker: NotRequired[Literal['auto', 'default-2024-11-15', 'none'] | None]
    score_threshold: NotRequired[float | None]


class Tools7(TypedDict):
    type: Literal['file_search']
    vector_store_ids: list[VectorStoreId]
    max_num_results: NotRequired[int | None]
    filters: NotRequired[Filters | Filters1 | None]
    ranking_options: NotRequired[RankingOptions | None]


class Tools8(TypedDict):
    type: str


class ToolChoice5(TypedDict):
    type: Literal['function']
    name: str


class ToolChoice6(TypedDict):
    type: Literal['file_search']


class ToolChoice7(TypedDict):
    type: str


class Conversation3(TypedDict):
    id: str


class Restarting(TypedDict):
    startedAt: str
    graceSeconds: float


ApprovedItem: TypeAlias = str


class Answer(TypedDict):
    callId: str
    id: str
    content: dict[str, Any]


class Resume(TypedDict):
    state: str
    approved: list[ApprovedItem]
    answers: NotRequired[list[Answer] | None]


class RetrievedFrame(TypedDict):
    type: Literal['retrieved']
    query: str
    found: int


class Error4(TypedDict):
    code: ErrorCode
    message: str


class RunEvent(TypedDict):
    id: int
    at: str
    type: Literal['run']
    outcome: str
    milliseconds: float
    firstDelta: NotRequired[float]
    promptTokens: NotRequired[int]
    completionTokens: NotRequired[int]
    cachedTokens: NotRequired[int]
    cacheWriteTokens: NotRequired[int]
    reasoningTokens: NotRequired[int]
    tools: dict[str, int]
    runId: NotRequired[str]


class Call2(TypedDict):
    name: str
    arguments: str


class RunMessage(TypedDict):
    role: Literal['system', 'user', 'assistant', 'tool']
    content: str
    images: NotRequired[int]
    calls: NotRequired[list[Call2]]


class Usage2(TypedDict):
    promptTokens: int
    completionTokens: int
    cachedTokens: NotRequired[int]
    cacheWriteTokens: NotRequired[int]
    reasoningTokens: NotRequired[int]


class RunModelCall(TypedDict):
    same: int
    messages: list[RunMessage]
    tools: list[str]
    milliseconds: NotRequired[float]
    answer: NotRequired[str]
    finishReason: NotRequired[str]
    usage: NotRequired[Usage2]


class Hit1(TypedDict):
    id: str
    documentId: str
    title: str
    heading: NotRequired[str]
    score: float
    stages: NotRequired[Stages]
    text: str


class RunSearch(TypedDict):
    query: str
    hits: list[Hit1]


class RunSummary(TypedDict):
    id: str
    startedAt: str
    milliseconds: float
    outcome: str
    question: str
    conversationId: NotRequired[str]
    answerId: NotRequired[str]
    key: NotRequired[str]
    person: NotRequired[str]


class RunToolCall(TypedDict):
    tool: str
    input: str
    output: str
    isError: bool
    milliseconds: float


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


class SearchStepJudge(TypedDict):
    action: Literal['judge']
    sufficient: bool
    queries: list[str]


class SearchStepPlan(TypedDict):
    action: Literal['plan']
    queries: list[str]


class SearchStepSearch(TypedDict):
    action: Literal['search']
    query: str
    found: int


class SearchStepStop(TypedDict):
    action: Literal['stop']
    reason: Literal['rounds', 'searches', 'tokens', 'seconds', 'model']


class Mistakes(TypedDict):
    agent: list[Mistake]
    settings: list[Mistake]


class Restart(TypedDict):
    required: bool
    agent: list[str]
    settings: list[str]


class ServerState(TypedDict):
    startedAt: str
    state: Literal['running', 'stopped', 'failed']
    mode: Literal['agent', 'knowledge']
    reason: NotRequired[str]
    mistakes: Mistakes
    restart: Restart


class Setting(TypedDict):
    name: str
    label: str
    unit: NotRequired[Literal['bytes', 'seconds', 'tokens']]
    choices: NotRequired[list[str]]
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
    set: NotRequired[dict[str, str]]
    clear: NotRequired[list[ClearItem] | None]
    move: NotRequired[dict[str, str]]


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
    skills: list[Skill1]


class SkillReload(TypedDict):
    source: NotRequired[str | None]
    accept: NotRequired[bool | None]


class StorageUse(TypedDict):
    name: str
    count: int
    bytes: NotRequired[int]
    retention: str
    bound: str
    most: NotRequired[int]
    whenFull: NotRequired[Literal['oldest-removed', 'refused']]


class StorageUseList(TypedDict):
    storage: list[StorageUse]


DirId: TypeAlias = str


class SyncCleanup(TypedDict):
    file_ids: list[FileId]
    dir_ids: NotRequired[list[DirId] | None]


class AddedItem(TypedDict):
    path: str
    filename: str


class ModifiedItem(TypedDict):
    path: str
    filename: str
    stale_file_id: str


class DeletedItem(TypedDict):
    path: str
    filename: str
    file_id: str


class SyncDiff(TypedDict):
    added: list[AddedItem]
    modified: list[ModifiedItem]
    deleted: list[DeletedItem]
    unmodified_count: int
    mkdir: list[str]
    rmdir: list[str]
    directory_map: dict[str, str]


class SyncDirectory(TypedDict):
    id: str
    name: str
    parent_id: str | None


class SyncError(TypedDict):
    error: ErrorDetail
    detail: str


class SyncKnowledgeBase(TypedDict):
    id: str
    name: str
    description: str


class ManifestItem(TypedDict):
    path: str
    filename: str
    checksum: str
    size: NotRequired[float | None]


class SyncManifest(TypedDict):
    manifest: list[ManifestItem]


class SyncRemoved(TypedDict):
    removed: int


class SyncUpload(TypedDict):
    metadata: str
    file: bytes


class SyncUploaded(TypedDict):
    id: str
    filename: str


class Meta(TypedDict):
    name: str
    size: int
    file_hash: str


class SyncedFile(TypedDict):
    id: str
    filename: str
    meta: Meta


class SyncedFiles(TypedDict):
    items: list[SyncedFile]
    total: int


class Choice2(TypedDict):
    index: int
    text: str
    logprobs: str | None
    finish_reason: Literal['stop', 'length', 'tool_calls', 'content_filter'] | None


PromptItem: TypeAlias = str


class TextDeltaFrame(TypedDict):
    type: Literal['text-delta']
    text: str


class Tool3(TypedDict):
    name: str
    title: str
    description: str
    inputSchema: dict[str, Any]
    source: str
    switch: NotRequired[str]
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


class ToolProgressFrame(TypedDict):
    type: Literal['tool-progress']
    callId: str
    tool: str
    progress: float
    total: NotRequired[float]
    message: NotRequired[str]


class ToolResultFrame(TypedDict):
    type: Literal['tool-result']
    callId: str
    tool: str
    output: str
    isError: bool


class TurnStartFrame(TypedDict):
    type: Literal['turn-start']
    conversationId: str
    questionId: str
    answerId: str


class UrlCitation1(TypedDict):
    url: str
    title: str
    start_index: int
    end_index: int


class UrlCitation(TypedDict):
    type: Literal['url_citation']
    url_citation: UrlCitation1


class UsageModel(TypedDict):
    promptTokens: int
    completionTokens: int
    totalTokens: int
    cachedTokens: NotRequired[int]
    cacheWriteTokens: NotRequired[int]
    reasoningTokens: NotRequired[int]


class UsageLeft(TypedDict):
    of: Literal['person', 'group', 'key']
    id: str
    tokensPerDay: NotRequired[int]
    tokensLeft: NotRequired[int]
    costPerDay: NotRequired[float]
    costLeft: NotRequired[float]


class Total(TypedDict):
    calls: int
    inputTokens: int
    cachedTokens: int
    outputTokens: int
    cost: NotRequired[float]
    unpricedCalls: NotRequired[int]


class UsageRow(TypedDict):
    day: NotRequired[str]
    person: NotRequired[str]
    personName: NotRequired[str]
    group: NotRequired[str]
    key: NotRequired[str]
    keyName: NotRequired[str]
    agent: NotRequired[str]
    model: NotRequired[str]
    calls: int
    inputTokens: int
    cachedTokens: int
    outputTokens: int
    cost: NotRequired[float]
    unpricedCalls: NotRequired[int]


class VectorStore(TypedDict):
    id: str
    object: Literal['vector_store']
    name: str
    created_at: int
    last_active_at: str | None
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


class Datum2(TypedDict):
    type: Literal['text']
    text: str


class VectorStoreFileContent(TypedDict):
    object: Literal['vector_store.file_content.page']
    data: list[Datum2]
    has_more: bool
    next_page: str | None


class VectorStoreFileList(TypedDict):
    object: Literal['list']
    data: list[VectorStoreFile]
    first_id: str | None
    last_id: str | None
    has_more: bool


class VectorStoreFileUpdate(TypedDict):
    attributes: Metadata


class VectorStoreList(TypedDict):
    object: Literal['list']
    data: list[VectorStore]
    first_id: str | None
    last_id: str | None
    has_more: bool


QueryItem: TypeAlias = str


class Filters6(TypedDict):
    type: Literal['eq', 'in', 'gt', 'gte', 'lt', 'lte', 'ne', 'nin']
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


class VectorStoreSearch(TypedDict):
    query: str | list[QueryItem]
    max_num_results: NotRequired[int | None]
    filters: NotRequired[Filters6 | Filters7 | None]
    ranking_options: NotRequired[RankingOptions | None]
    rewrite_query: NotRequired[bool | None]


class ContentItem2(TypedDict):
    type: Literal['text']
    text: str


class Datum3(TypedDict):
    file_id: str
    filename: str
    score: float
    attributes: Metadata
    content: list[ContentItem2]
    start: int
    end: int


class VectorStoreSearchResults(TypedDict):
    object: Literal['vector_store.search_results.page']
    search_query: list[str]
    data: list[Datum3]
    has_more: bool
    next_page: str | None


class VectorStoreUpdate(TypedDict):
    name: NotRequired[str | None]
    metadata: NotRequired[dict[str, Any]]
    expires_after: NotRequired[str | None]


class RefusedItem1(TypedDict):
    path: str
    reason: str


class WatchedFolder(TypedDict):
    path: str
    collection: NotRequired[str]
    access: NotRequired[list[AccessItem]]
    state: Literal['starting', 'following', 'waiting', 'elsewhere', 'failed']
    problem: NotRequired[str]
    files: int
    open: int
    lookedAt: NotRequired[str]
    refused: list[RefusedItem1]
    refusedCount: int


class WatchedFolders(TypedDict):
    folders: list[WatchedFolder]


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
    toolSwitches: dict[str, str]


class AgentSaved(TypedDict):
    changed: list[str]
    file: AgentFile


AnthropicCitation: TypeAlias = (
    AnthropicCitationWebSearchResultLocation | AnthropicCitationCharLocation
)


class AnthropicContentBlockText(TypedDict):
    type: Literal['text']
    text: str
    citations: NotRequired[list[AnthropicCitation]]


class Delta3(TypedDict):
    type: Literal['citations_delta']
    citation: AnthropicCitation


class AnthropicEventContentBlockDelta(TypedDict):
    type: Literal['content_block_delta']
    index: int
    delta: Delta | Delta1 | Delta2 | Delta3


class AnthropicSearchResultBlock(TypedDict):
    type: Literal['search_result']
    source: str
    title: str
    content: list[AnthropicTextBlock]


class AnthropicToolResultBlock(TypedDict):
    type: Literal['tool_result']
    tool_use_id: str
    content: NotRequired[
        str
        | list[
            AnthropicTextBlock
            | AnthropicImageBlock
            | AnthropicDocumentBlock
            | AnthropicRedactedThinkingBlock
            | Content
            | AnthropicSearchResultBlock
        ]
        | None
    ]
    is_error: NotRequired[bool | None]


class Call(TypedDict):
    callId: str
    tool: str
    input: Any
    elicitations: NotRequired[list[Elicitation]]


class Approval(TypedDict):
    calls: list[Call]
    state: str


class ApprovalRequiredFrame(TypedDict):
    type: Literal['approval-required']
    calls: list[Call]
    state: str


class BatchFailure(TypedDict):
    error: DocumentError


class Message2(TypedDict):
    role: Literal['assistant']
    content: str | None
    refusal: str | None
    tool_calls: NotRequired[list[ToolCall]]
    annotations: NotRequired[list[UrlCitation]]
    reasoning_content: NotRequired[str]
    reasoning_details: NotRequired[list[Any]]


class Choice(TypedDict):
    index: int
    message: Message2
    logprobs: str | None
    finish_reason: Literal['stop', 'length', 'tool_calls', 'content_filter']


class Delta5(TypedDict):
    role: NotRequired[Literal['assistant']]
    content: NotRequired[str]
    tool_calls: NotRequired[list[ToolCall1]]
    annotations: NotRequired[list[UrlCitation]]
    reasoning_content: NotRequired[str]
    reasoning_details: NotRequired[list[Any]]


class Choice1(TypedDict):
    index: int
    delta: Delta5
    logprobs: str | None
    finish_reason: Literal['stop', 'length', 'tool_calls', 'content_filter'] | None


CompletionMessage: TypeAlias = (
    CompletionMessageSystem
    | CompletionMessageUser
    | CompletionMessageAssistant
    | CompletionMessageTool
)


class CreateDocument(TypedDict):
    text: NotRequired[str | None]
    title: NotRequired[str | None]
    url: NotRequired[str | None]
    metadata: NotRequired[Metadata | None]
    collection: NotRequired[str | None]
    access: NotRequired[list[AccessItem] | None]
    refresh: NotRequired[str | None]
    conversation: NotRequired[str | None]


class CreateDocumentItem(TypedDict):
    text: str
    title: NotRequired[str | None]
    url: NotRequired[str | None]
    metadata: NotRequired[Metadata | None]
    collection: NotRequired[str | None]
    access: NotRequired[list[AccessItem] | None]
    id: NotRequired[str | None]
    idempotencyKey: NotRequired[str | None]


CreateDocuments: TypeAlias = list[CreateDocumentItem]


class CreateFeedback(TypedDict):
    conversationId: NotRequired[str | None]
    answerId: str
    rating: Rating
    comment: NotRequired[str | None]


class CreateJudgedLine(TypedDict):
    id: NotRequired[str | None]
    question: str
    relevant: NotRequired[list[RelevantDocument] | None]
    facts: NotRequired[list[Fact] | None]
    kind: NotRequired[str | None]
    collection: NotRequired[str | None]


class CreateJudgedQuestion(TypedDict):
    question: str
    relevant: NotRequired[list[RelevantDocument] | None]
    facts: NotRequired[list[Fact] | None]
    kind: NotRequired[str | None]
    collection: NotRequired[str | None]


class CreateSite(TypedDict):
    url: str
    limit: NotRequired[int | None]
    refresh: NotRequired[str | None]
    metadata: NotRequired[Metadata | None]
    collection: NotRequired[str | None]
    access: NotRequired[list[AccessItem] | None]


class CreateVectorStoreFile(TypedDict):
    file_id: str
    attributes: NotRequired[Metadata | None]
    chunking_strategy: NotRequired[ChunkingStrategy | None]


class Document(TypedDict):
    id: str
    title: NotRequired[str]
    url: NotRequired[str]
    metadata: NotRequired[Metadata]
    conversation: NotRequired[str]
    access: NotRequired[list[AccessItem]]
    creator: NotRequired[str]
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
    embeddings: NotRequired[Embeddings]
    pictures: NotRequired[Pictures]
    characters: int
    createdAt: str
    updatedAt: str


class DocumentCreated(TypedDict):
    id: str
    status: DocumentStatus
    error: NotRequired[DocumentError]
    embeddings: NotRequired[Embeddings]
    sameFile: NotRequired[str]


class DocumentList(TypedDict):
    documents: list[Document]
    total: NotRequired[int]
    nextCursor: NotRequired[str]


class Error2(TypedDict):
    error: ErrorDetail


class Feedback(TypedDict):
    id: str
    conversationId: NotRequired[str]
    answerId: str
    rating: Rating
    comment: NotRequired[str]
    question: NotRequired[str]
    answer: str
    documentIds: list[str]
    createdAt: str
    updatedAt: str


class FeedbackList(TypedDict):
    feedback: list[Feedback]
    nextCursor: NotRequired[str]


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
    pictureDescription: NotRequired[bool]
    sheet: NotRequired[str]
    row: NotRequired[int]
    chunkIds: NotRequired[list[str]]
    stages: NotRequired[Stages]


JudgedImport: TypeAlias = list[CreateJudgedLine]


LineResult: TypeAlias = LineStored | LineRefused


class OwnUsage(TypedDict):
    currency: str
    limits: list[UsageLeft]
    today: Today
    days: list[UsageRow]


ResponseInputItem: TypeAlias = (
    ResponseInputItemMessage
    | ResponseInputItemFunctionCall
    | ResponseInputItemFunctionCallOutput
    | ResponseInputItemItemReference
    | ResponseInputItemCustomToolCall
    | ResponseInputItemCustomToolCallOutput
    | ResponseInputItemFileSearchCall
    | ResponseInputItemAdditionalTools
    | ResponseInputItemReasoning
)


ResponseOutputItem: TypeAlias = (
    ResponseOutputItemMessage
    | ResponseOutputItemFunctionCall
    | ResponseOutputItemReasoning
    | ResponseOutputItemFileSearchCall
)


class Run(TypedDict):
    id: str
    startedAt: str
    milliseconds: float
    outcome: str
    question: str
    conversationId: NotRequired[str]
    answerId: NotRequired[str]
    key: NotRequired[str]
    person: NotRequired[str]
    firstDelta: NotRequired[float]
    usage: NotRequired[UsageModel]
    searches: list[RunSearch]
    modelCalls: list[RunModelCall]
    toolCalls: list[RunToolCall]
    error: NotRequired[Error4]


class RunList(TypedDict):
    runs: list[RunSummary]


class Sandbox(TypedDict):
    kind: Literal['embedded', 'bubblewrap', 'docker', 'e2b', 'none']
    state: Literal['on', 'off', 'unavailable']
    reason: NotRequired[str]
    limits: NotRequired[Limits]
    verified: NotRequired[SandboxReport]


SearchStep: TypeAlias = (
    SearchStepPlan | SearchStepSearch | SearchStepJudge | SearchStepStop
)


class SearchStepFrame(TypedDict):
    type: Literal['search-step']
    step: SearchStep


class UsageReport(TypedDict):
    currency: str
    rows: list[UsageRow]
    hasMore: bool
    total: Total


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
        'usage_limit',
        'approval_required',
    ]
    limitsReached: NotRequired[
        list[Literal['rounds', 'toolCalls', 'seconds', 'tokens']]
    ]
    degraded: NotRequired[bool]
    searchedFor: NotRequired[str]
    abstained: NotRequired[bool]
    citations: NotRequired[list[Citation]]
    citationCheck: NotRequired[CitationCheck]
    unknownCitations: NotRequired[list[int]]
    artifacts: NotRequired[list[Artifact]]


class Agent2(TypedDict):
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
            'usage_limit',
            'approval_required',
        ]
    ]
    limitsReached: NotRequired[
        list[Literal['rounds', 'toolCalls', 'seconds', 'tokens']]
    ]
    degraded: NotRequired[bool]
    searchedFor: NotRequired[str]
    abstained: NotRequired[bool]
    citations: NotRequired[list[Citation]]
    citationCheck: NotRequired[CitationCheck]
    unknownCitations: NotRequired[list[int]]
    artifacts: NotRequired[list[Artifact]]
    error: NotRequired[ErrorDetail]


class AgentResponse(TypedDict):
    id: str
    object: Literal['response']
    created_at: int
    completed_at: int | None
    conversation: Conversation | None
    status: Literal['in_progress', 'completed', 'incomplete', 'failed']
    error: Error | None
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
    temperature: float
    text: dict[str, Any]
    tool_choice: Any
    tools: list[dict[str, Any]]
    top_p: float
    truncation: Literal['auto']
    background: bool
    frequency_penalty: float
    max_tool_calls: str | None
    presence_penalty: float
    prompt_cache_key: str | None
    safety_identifier: str | None
    service_tier: str
    top_logprobs: int
    usage: Usage | None
    agent: NotRequired[Agent2]


AnthropicContentBlock: TypeAlias = (
    AnthropicContentBlockText
    | AnthropicContentBlockThinking
    | AnthropicContentBlockRedactedThinking
    | AnthropicContentBlockToolUse
)


class Message(TypedDict):
    role: Literal['user', 'assistant', 'system']
    content: (
        str
        | list[
            AnthropicTextBlock
            | AnthropicImageBlock
            | AnthropicDocumentBlock
            | AnthropicRedactedThinkingBlock
            | Content
            | AnthropicToolUseBlock
            | AnthropicToolResultBlock
            | AnthropicSearchResultBlock
        ]
    )


class AnthropicEventContentBlockStart(TypedDict):
    type: Literal['content_block_start']
    index: int
    content_block: AnthropicContentBlock


class AnthropicEventMessageDelta(TypedDict):
    type: Literal['message_delta']
    delta: Delta4
    usage: AnthropicUsage
    agent: NotRequired[AgentExtra]


class AnthropicMessage(TypedDict):
    id: str
    type: Literal['message']
    role: Literal['assistant']
    model: str
    content: list[AnthropicContentBlock]
    stop_reason: (
        Literal['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'refusal'] | None
    )
    stop_sequence: str | None
    usage: AnthropicUsage
    agent: NotRequired[AgentExtra]


class Message1(TypedDict):
    role: Literal['user', 'assistant', 'system']
    content: (
        str
        | list[
            AnthropicTextBlock
            | AnthropicImageBlock
            | AnthropicDocumentBlock
            | AnthropicRedactedThinkingBlock
            | Content
            | AnthropicToolUseBlock
            | AnthropicToolResultBlock
            | AnthropicSearchResultBlock
        ]
    )


class Capabilities(TypedDict):
    skills: list[Skill1]
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


class Agent3(TypedDict):
    hits: NotRequired[list[Hit]]
    steps: NotRequired[list[AnswerStep]]
    milliseconds: NotRequired[int]
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
            'usage_limit',
            'approval_required',
            'cancelled',
            'interrupted',
        ]
    ]
    limitsReached: NotRequired[
        list[Literal['rounds', 'toolCalls', 'seconds', 'tokens']]
    ]
    degraded: NotRequired[bool]
    searchedFor: NotRequired[str]
    abstained: NotRequired[bool]
    citations: NotRequired[list[Citation]]
    citationCheck: NotRequired[CitationCheck]
    unknownCitations: NotRequired[list[int]]
    artifacts: NotRequired[list[Artifact]]
    approval: NotRequired[Approval]
    usage: NotRequired[UsageModel]
    error: NotRequired[ErrorDetail]


class ConversationItem(TypedDict):
    id: str
    type: str
    status: NotRequired[str]
    parent_id: str | None
    agent: NotRequired[Agent3]


class ConversationItemList(TypedDict):
    object: Literal['list']
    data: list[ConversationItem]
    first_id: str | None
    last_id: str | None
    has_more: bool


class CreateConversation(TypedDict):
    items: NotRequired[list[ResponseInputItem] | None]
    metadata: NotRequired[dict[str, str]]
    title: NotRequired[str | None]


class CreateConversationItems(TypedDict):
    items: list[ResponseInputItem]


class CreateFileBatch(TypedDict):
    file_ids: NotRequired[list[FileId] | None]
    files: NotRequired[list[CreateVectorStoreFile] | None]
    attributes: NotRequired[Metadata | None]
    chunking_strategy: NotRequired[ChunkingStrategy | None]


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
        'usage_limit',
        'approval_required',
        'cancelled',
        'interrupted',
    ]
    limitsReached: NotRequired[
        list[Literal['rounds', 'toolCalls', 'seconds', 'tokens']]
    ]
    degraded: NotRequired[bool]
    searchedFor: NotRequired[str]
    abstained: NotRequired[bool]
    citations: NotRequired[list[Citation]]
    citationCheck: NotRequired[CitationCheck]
    unknownCitations: NotRequired[list[int]]
    artifacts: NotRequired[list[Artifact]]
    usage: NotRequired[UsageModel]


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


class OllamaChatAnswer(TypedDict):
    message: Message3
    model: str
    created_at: str
    done: bool
    done_reason: NotRequired[Literal['stop', 'length', 'load']]
    total_duration: NotRequired[int]
    load_duration: NotRequired[int]
    prompt_eval_count: NotRequired[int]
    prompt_eval_duration: NotRequired[int]
    eval_count: NotRequired[int]
    eval_duration: NotRequired[int]
    agent: NotRequired[AgentExtra]


class OllamaGenerateAnswer(TypedDict):
    response: str
    thinking: NotRequired[str]
    model: str
    created_at: str
    done: bool
    done_reason: NotRequired[Literal['stop', 'length', 'load']]
    total_duration: NotRequired[int]
    load_duration: NotRequired[int]
    prompt_eval_count: NotRequired[int]
    prompt_eval_duration: NotRequired[int]
    eval_count: NotRequired[int]
    eval_duration: NotRequired[int]
    agent: NotRequired[AgentExtra]


class QueryResult(TypedDict):
    query: str
    hits: list[Hit]
    corrections: NotRequired[list[Correction]]
    degraded: NotRequired[bool]
    steps: NotRequired[list[SearchStep]]
    usage: NotRequired[UsageModel]


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
        'response.reasoning_summary_part.added',
        'response.reasoning_summary_text.delta',
        'response.reasoning_summary_text.done',
        'response.reasoning_summary_part.done',
        'response.output_item.done',
        'response.completed',
        'response.incomplete',
        'response.failed',
        'error',
    ]
    sequence_number: int
    response: NotRequired[AgentResponse]
    output_index: NotRequired[int]
    item: NotRequired[ResponseOutputItem]
    item_id: NotRequired[str]
    content_index: NotRequired[int]
    summary_index: NotRequired[int]
    part: NotRequired[Part | Part1]
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


class TextCompletion(TypedDict):
    id: str
    object: Literal['text_completion']
    created: int
    model: str
    choices: list[Choice2]
    usage: NotRequired[CompletionUsage]
    agent: NotRequired[AgentExtra]


class AnthropicEventMessageStart(TypedDict):
    type: Literal['message_start']
    message: AnthropicMessage


ChatFrame: TypeAlias = (
    TurnStartFrame
    | DraftFrame
    | TextDeltaFrame
    | SearchStepFrame
    | RetrievedFrame
    | ToolCallFrame
    | ToolProgressFrame
    | ToolResultFrame
    | ReasoningDeltaFrame
    | ProgressFrame
    | CitationsFrame
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


class OllamaChatRequest(TypedDict):
    messages: NotRequired[list[Message4] | None]
    tools: NotRequired[list[Tool2] | None]
    model: str
    stream: NotRequired[bool | None]
    format: NotRequired[Literal['', 'json'] | OllamaAnswerSchema | None]
    think: NotRequired[bool | Literal['low', 'medium', 'high', 'max'] | None]
    options: NotRequired[Options | None]
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citationCheck: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]


class OllamaGenerateRequest(TypedDict):
    prompt: NotRequired[str | None]
    system: NotRequired[str | None]
    images: NotRequired[list[Image] | None]
    suffix: NotRequired[str | None]
    model: str
    stream: NotRequired[bool | None]
    format: NotRequired[Literal['', 'json'] | OllamaAnswerSchema | None]
    think: NotRequired[bool | Literal['low', 'medium', 'high', 'max'] | None]
    options: NotRequired[Options1 | None]
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citationCheck: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]


class QueryRequest(TypedDict):
    query: str
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
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
    tools: NotRequired[list[Tools6 | Tools7 | Tools8] | None]
    tool_choice: NotRequired[
        Literal['none', 'auto', 'required']
        | ToolChoice5
        | ToolChoice6
        | ToolChoice7
        | None
    ]
    metadata: NotRequired[dict[str, str]]
    truncation: NotRequired[Literal['auto', 'disabled'] | None]
    parallel_tool_calls: NotRequired[bool | None]
    background: NotRequired[bool | None]
    conversation: NotRequired[str | Conversation3 | None]
    prompt: NotRequired[str | None]
    max_tool_calls: NotRequired[str | None]
    top_logprobs: NotRequired[str | None]
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citationCheck: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]


class TextCompletionRequest(TypedDict):
    model: NotRequired[str | None]
    prompt: str | list[PromptItem]
    stream: NotRequired[bool | None]
    stream_options: NotRequired[StreamOptions | None]
    max_tokens: NotRequired[int | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[StopItem] | None]
    presence_penalty: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    seed: NotRequired[int | None]
    n: NotRequired[Literal[1] | None]
    best_of: NotRequired[Literal[1] | None]
    echo: NotRequired[bool | None]
    suffix: NotRequired[Literal[''] | None]
    logprobs: NotRequired[str | None]
    logit_bias: NotRequired[dict[str, Any] | None]
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citationCheck: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]


class AgentQuestion(TypedDict):
    messages: list[ChatMessage]
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citationCheck: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    agent: NotRequired[str | None]
    reasoningEffort: NotRequired[str | None]
    includeSteps: NotRequired[bool | None]
    text: str


class AnthropicCountRequest(TypedDict):
    model: NotRequired[str | None]
    messages: list[Message]
    thread: NotRequired[dict[str, Any] | None]
    system: NotRequired[str | list[AnthropicTextBlock] | None]
    tools: NotRequired[list[Tools | Tools1] | None]
    tool_choice: NotRequired[ToolChoice | ToolChoice1 | None]
    thinking: NotRequired[Thinking | None]
    output_config: NotRequired[OutputConfig | None]
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citationCheck: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]


AnthropicEvent: TypeAlias = (
    AnthropicEventMessageStart
    | AnthropicEventContentBlockStart
    | AnthropicEventContentBlockDelta
    | AnthropicEventContentBlockStop
    | AnthropicEventMessageDelta
    | AnthropicEventMessageStop
    | AnthropicError
)


class AnthropicRequest(TypedDict):
    model: NotRequired[str | None]
    messages: list[Message1]
    thread: NotRequired[dict[str, Any] | None]
    system: NotRequired[str | list[AnthropicTextBlock] | None]
    tools: NotRequired[list[Tools2 | Tools3] | None]
    tool_choice: NotRequired[ToolChoice2 | ToolChoice3 | None]
    thinking: NotRequired[Thinking | None]
    output_config: NotRequired[OutputConfig1 | None]
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citationCheck: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]
    max_tokens: NotRequired[int | None]
    stream: NotRequired[bool | None]
    stop_sequences: NotRequired[list[StopSequence] | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]


class ChatRequest(TypedDict):
    messages: list[ChatMessage]
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citationCheck: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]
    agent: NotRequired[str | None]
    reasoningEffort: NotRequired[str | None]
    includeSteps: NotRequired[bool | None]
    conversation: NotRequired[Conversation1 | None]


class CompletionRequest(TypedDict):
    model: NotRequired[str | None]
    messages: list[CompletionMessage]
    stream: NotRequired[bool | None]
    stream_options: NotRequired[StreamOptions | None]
    temperature: NotRequired[float | None]
    top_p: NotRequired[float | None]
    stop: NotRequired[str | list[StopItem] | None]
    presence_penalty: NotRequired[float | None]
    frequency_penalty: NotRequired[float | None]
    seed: NotRequired[int | None]
    n: NotRequired[Literal[1] | None]
    max_tokens: NotRequired[int | None]
    max_completion_tokens: NotRequired[int | None]
    response_format: NotRequired[dict[str, Any] | None]
    reasoning_effort: NotRequired[str | None]
    tools: NotRequired[list[Tools4 | Tools5] | None]
    tool_choice: NotRequired[Literal['auto', 'none', 'required'] | ToolChoice4 | None]
    topK: NotRequired[int | None]
    minScore: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citationCheck: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    conversationId: NotRequired[str | None]


class CreateEvaluationRun(TypedDict):
    name: NotRequired[str | None]
    answers: NotRequired[bool | None]
    judge: NotRequired[bool | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    filter: NotRequired[Filter | None]


class EvaluationReport(TypedDict):
    id: str
    state: Literal['running', 'done', 'failed', 'cancelled', 'interrupted']
    name: NotRequired[str]
    answers: bool
    judge: bool
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense']]
    effort: NotRequired[Literal['low', 'medium', 'high']]
    filter: NotRequired[Filter]
    models: Models
    asked: int
    total: int
    error: NotRequired[str]
    measures: NotRequired[dict[str, dict[str, float]]]
    createdAt: str
    updatedAt: str
    questions: NotRequired[dict[str, list[Question1]]]


class EvaluationRun(TypedDict):
    id: str
    state: Literal['running', 'done', 'failed', 'cancelled', 'interrupted']
    name: NotRequired[str]
    answers: bool
    judge: bool
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense']]
    effort: NotRequired[Literal['low', 'medium', 'high']]
    filter: NotRequired[Filter]
    models: Models
    asked: int
    total: int
    error: NotRequired[str]
    measures: NotRequired[dict[str, dict[str, float]]]
    createdAt: str
    updatedAt: str


class EvaluationRunList(TypedDict):
    runs: list[EvaluationRun]


class EvaluationComparison(TypedDict):
    before: EvaluationRun
    now: EvaluationRun
    rows: list[Row]


class QueryOptions(TypedDict):
    query: NotRequired[str]
    top_k: NotRequired[int | None]
    min_score: NotRequired[float | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    collection: NotRequired[str | None]
    explain: NotRequired[bool | None]


class ChatOptions(TypedDict):
    messages: NotRequired[list[ChatMessage]]
    top_k: NotRequired[int | None]
    min_score: NotRequired[float | None]
    rewrite: NotRequired[bool | None]
    resume: NotRequired[Resume | None]
    filter: NotRequired[Filter | None]
    mode: NotRequired[Literal['hybrid', 'lexical', 'dense'] | None]
    effort: NotRequired[Literal['low', 'medium', 'high'] | None]
    citation_check: NotRequired[Literal['words', 'model'] | None]
    collection: NotRequired[str | None]
    conversation_id: NotRequired[str | None]
    agent: NotRequired[str | None]
    reasoning_effort: NotRequired[str | None]
    include_steps: NotRequired[bool | None]
    conversation: NotRequired[Conversation1 | None]
