/** How servers say that a model takes no tools. */
export const TOOLS_REFUSED = new RegExp(
  [
    // Ollama: "… does not support tools"; OpenRouter: "No endpoints found that support tool use".
    'not support(?:ed)?(?: for)? (?:tool|function)',
    'that support tool use',
    // vLLM: '"auto" tool choice requires --enable-auto-tool-choice'.
    'tool choice requires',
    // llama.cpp: "tools param requires --jinja flag", "Unsupported param: tools", "Cannot use tools with stream".
    'tools param requires',
    'unsupported param: tools',
    'use tools with stream',
    // Validators: "Unrecognized request argument supplied: tools", "property 'tools' is unsupported".
    '(?:unknown|unrecognized)[\\w ]*: ["\'`]?tools\\b',
    '["\'`]tools["\'`] (?:is|are) (?:not supported|not allowed|unsupported)',
    '(?:tool|function)[- ]calling is not',
    '\\b(?:tools|functions|tool use|(?:tool|function)[- ]calling) (?:is|are) (?:disabled|not (?:enabled|available))',
    '\\btools["\'\\]]{0,2}[\\s,]+(?:["\']msg["\']: ?["\'])?extra inputs',
  ].join('|'),
  'i',
)

/** How they say that it takes no images. */
export const IMAGES_REFUSED = new RegExp(
  [
    // OpenAI: "image_url is only supported by certain models"; Mistral: "Image input is not enabled for this model".
    '(?:image|vision|multi-?modal)[^.]{0,40}(?:only supported|not (?:supported|enabled|available))',
    // Ollama, OpenRouter, vLLM: "does not support image input", "is not a multimodal model", "At most 0 image(s)".
    '(?:not|n.t|no endpoints found that) (?:support|a)[^.]{0,20}(?:image|vision|multi-?modal)',
    'at most 0 image|missing data required for image',
    // Text-only servers: "content must be a string", "unknown variant `image_url`, expected `text`".
    'content\\W{0,3} (?:must|should) be a (?:valid )?string|unknown variant .?image_url',
    'sequence, expected a string|variant of [^.]*Content|Text(?:Content)?Part\\b.*should be',
  ].join('|'),
  'i',
)

/** How they say that they take other names of tools. */
export const NAMES_REFUSED =
  /invalid (?:function|tool) name|(?:function|tool)(?:\.| )name\b[^.]*(?:invalid|must|match|only)/i
