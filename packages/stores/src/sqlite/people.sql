-- Who has signed in, their sessions of the web UI, and who did what. `groups` and `targets` are JSON. Once released, this
-- file is never changed: see `migrate.ts`.

CREATE TABLE people (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT,
  email TEXT,
  groups TEXT NOT NULL,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX people_by_last_seen ON people (last_seen_at, number);

-- `mac` is a MAC of the session's secret; `sealed` holds the tokens of the issuer, encrypted.
CREATE TABLE sessions (
  mac TEXT PRIMARY KEY,
  person TEXT NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  name TEXT,
  groups TEXT NOT NULL,
  sealed TEXT NOT NULL,
  subject TEXT NOT NULL,
  issuer_session TEXT,
  began_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  checked_at INTEGER NOT NULL,
  known_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_of_person ON sessions (person, began_at);
CREATE INDEX sessions_by_use ON sessions (used_at, mac);
CREATE INDEX sessions_by_age ON sessions (began_at);
CREATE INDEX sessions_of_subject ON sessions (subject);
CREATE INDEX sessions_of_issuer ON sessions (issuer_session) WHERE issuer_session IS NOT NULL;

-- Keys of administrators go with them.
ALTER TABLE api_keys ADD COLUMN created_by_person TEXT REFERENCES people (id) ON DELETE CASCADE;

-- Accounts of people at MCP servers: `sealed` holds the tokens, encrypted; `claimed_at` is when a server began to renew them.
CREATE TABLE mcp_accounts (
  owner TEXT NOT NULL,
  connection TEXT NOT NULL,
  sealed TEXT NOT NULL,
  connected_at INTEGER NOT NULL,
  claimed_at INTEGER NOT NULL,
  PRIMARY KEY (owner, connection)
) STRICT;

CREATE TABLE audit (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  address TEXT,
  action TEXT NOT NULL,
  status INTEGER,
  targets TEXT NOT NULL
) STRICT;
CREATE INDEX audit_of_who ON audit (who, number);
CREATE INDEX audit_of_action ON audit (action, number);
CREATE INDEX audit_by_time ON audit (at);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is only appended to'); END;
