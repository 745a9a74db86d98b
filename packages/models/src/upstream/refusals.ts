const LACKS = [
  'un(?:supported|available)',
  'not (?:supported|enabled|available|allowed|permitted|possible)',
  '(?:does|do|is|can)(?:n.t|not| not) (?:support|accept|allow|take|have|handle|use)',
  'disabled|(?:is|are|turned|switched) off|no (?:support|\\w+ for)',
].join('|')
/** Says of anything that it is lacking, in whatever words; within one sentence. */
const lacks = (names: string) =>
  `\\b(?:${names})\\b[^.]{0,40}\\b(?:${LACKS})\\b|\\b(?:${LACKS})\\b[^.:]{0,30}\\b(?:${names})\\b`

/** How servers say that a model takes no tools. */
export const TOOLS_REFUSED = new RegExp(
  [
    // Ollama: "… does not support tools"; OpenRouter: "No endpoints found that support tool use".
    'not support(?:ed)?(?: for)? (?:tool|function)',
    lacks('tools|functions|tool use|(?:tool|function)[- ]call(?:s|ing)'),
    'that support tool use',
    // vLLM: '"auto" tool choice requires --enable-auto-tool-choice'.
    'tool choice requires',
    // llama.cpp: "tools param requires --jinja flag", "Unsupported param: tools", "Cannot use tools with stream".
    'tools param requires',
    'unsupported param: tools',
    'use tools with stream',
    // LiteLLM: "does not support parameters: {'tools': […".
    'support parameters?: ?[{[][^}]{0,80}["\']tools["\']',
    // Validators: "Unrecognized request argument supplied: tools", "property 'tools' is unsupported".
    '(?:unknown|unrecognized)[\\w ]*: ["\'`]?tools\\b',
    '\\btools["\'\\]]{0,2}[\\s,]+(?:["\']msg["\']: ?["\'])?extra inputs',
  ].join('|'),
  'i',
)

/** How they say that it takes no images. */
const NO_IMAGES = [
  // OpenAI: "image_url is only supported by certain models"; Mistral: "Image input is not enabled for this model".
  'image_url[^.]{0,40}only supported|invalid value: .input_image|input tag .image',
  // Not: “Unsupported image format”, which other images have.
  lacks(
    '(?:image|picture)s?(?!/|[ _-](?:format|type|size|file|dimension|url))|vision|multi-?modal|attachments?',
  ),
  // Ollama, OpenRouter, vLLM: "does not support image input", "is not a multimodal model", "At most 0 image(s)".
  '(?:not|n.t|no endpoints found that) (?:support|a)[^.]{0,20}(?:image|vision|multi-?modal)',
  'at most 0 image|missing data required for image|unsupported content part',
  // Text-only servers: "content must be a string", "unknown variant `image_url`, expected `text`".
  'content\\W{1,4}[^.]{0,24}\\b(?:a|valid) string|unknown variant .?image_url',
  // Servers whose errors have these words by chance: llama-cpp-python, Workers AI.
  'concatenate str \\(not .list|content.?, .array. not in .string',
  'sequence, expected a string|variant of [^.]*Content|Text(?:Content)?Part\\b.*should be',
].join('|')
/** Not where one image is broken, and another might not be. */
export const IMAGES_REFUSED = new RegExp(
  `^(?!.*(?:following formats|image is valid)).*(?:${NO_IMAGES})`,
  'is',
)

/** How they say that they know no result of a tool. */
export const RESULTS_REFUSED =
  /(?:unknown variant|(?:invalid|unknown|unsupported) (?:role|value))\W{1,4}(?:tool|function)\b|\brole\W{1,3}(?:input )?(?:should|must) be (?![^\]]*\btool\b)/i

/** How they say that they take other names of tools. */
export const NAMES_REFUSED =
  /invalid (?:function|tool) name|(?:function|tool)(?:\.| )name\b[^.]*(?:invalid|must|match|only)/i

/** Templates say it in words of their own; llama.cpp only says that it cannot work with the template. */
export const NO_PARSER = /unable to generate parser for this template/i
/** Only a user and an assistant in turn, and therefore perhaps no results of tools. */
export const ALTERNATING = /roles? (?:must|should) (?:alternate|be alternating)/i
export const ROLES_REFUSED = new RegExp(
  [
    ALTERNATING.source,
    'successive user or assistant|interleave the user',
    // Gemini, Vertex, Bedrock.
    'turn comes immediately after|contents field is required|result blocks cannot be provided',
    // However it is said: they mean the same when they are merged.
    '\\b(?:system|developer)\\b\\W{0,3}(?:roles?|messages?|instructions?)\\b',
    'only user and assistant roles|unexpected (?:message )?role|incorrect role',
    'role .?system.? must be at the begin',
    "role.{0,2} does not support '(?:system|developer)'",
    '(?:first|last) message\\b[^.]{0,20}\\b(?:be|user|assistant)\\b|no user query found',
    NO_PARSER.source,
  ].join('|'),
  'i',
)

/** How they say that they take no answer in JSON, or none by a schema. One that is invalid is the client's to mend. */
export const FORMAT_REFUSED =
  /^(?!.*invalid schema).*(?:too many states|response[_ ]?format|text\.format|response mime type|json_schema|json_object|structured output|json mode)/is
