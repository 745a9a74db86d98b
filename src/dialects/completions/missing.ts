/** Endpoints of OpenAI that this server does not have, and what to use instead. */
export const MISSING = {
  '/v1/responses/compact':
    'Send the conversation as it is: the server leaves out what does not fit into the model’s window.',
  '/v1/moderations': 'Use the moderation endpoint of the model’s provider.',
  '/v1/images':
    'Use /v1/chat/completions, which reads images; the agent draws charts with its tools.',
  '/v1/audio/transcriptions':
    'Send the transcript to /v1/files, or as a message to /v1/chat/completions.',
  '/v1/audio/translations':
    'Send the transcript to /v1/files, or as a message to /v1/chat/completions.',
  '/v1/audio/speech': 'Use /v1/chat/completions, which answers with text.',
  '/v1/assistants':
    'Use /v1/responses; the agent’s instructions and tools are configured in agent.json.',
  '/v1/threads': 'Use /v1/conversations with /v1/responses.',
  '/v1/batches': 'Use /v1/chat/completions for each request.',
  '/v1/fine_tuning':
    'Use /v1/files to add knowledge, and instructions in agent.json to change how the agent answers.',
  '/v1/realtime': 'Use /v1/responses with `stream`.',
  '/v1/uploads': 'Use /v1/files, which takes a file as a whole.',
}
