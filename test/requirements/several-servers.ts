/** What holds where servers share PostgreSQL and Qdrant; the suites are in test/system/postgres/. */
export const SEVERAL_SERVERS = {
  'design: several servers': {
    'shared.once':
      'Whatever any of the servers acknowledged becomes ready exactly once, whoever is killed.',
    'shared.same': 'What one server was sent is found by the very next query to another.',
    'shared.outage':
      'While PostgreSQL is away answers are 503 in bounded time, readiness names it, and nothing needs a restart.',
    'shared.start':
      'A start waits a minute for a PostgreSQL that is away, and then ends with what is wrong.',
    'shared.rebuild':
      'An index that is made anew while servers ingest lacks nothing of what they made ready.',
    'shared.reindex': 'Vectors are made anew by one process at a time; another one is refused.',
    'shared.webhook': 'A server without WEBHOOK_URL leaves it to the others to tell of documents.',
    'shared.artifacts': 'An artifact of one server is read from every other.',
    'shared.accepted':
      'What was accepted of MCP servers and remote skills is accepted for all servers.',
    'shared.no-disk': 'Nothing of worth is kept in DATA_DIR, which need not be writable.',
  },
} as const
