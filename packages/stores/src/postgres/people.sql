-- Who has signed in, their sessions of the web UI, and who did what. `groups` and `targets` are JSON. Once released, this
-- file is never changed: see `migrate.ts`.

CREATE TABLE people (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  name text,
  email text,
  groups text NOT NULL,
  first_seen_at bigint NOT NULL,
  last_seen_at bigint NOT NULL
);
CREATE INDEX people_by_last_seen ON people (last_seen_at, number);

-- `mac` is a MAC of the session's secret; `sealed` holds the tokens of the issuer, encrypted.
CREATE TABLE sessions (
  mac text COLLATE "C" PRIMARY KEY,
  person text COLLATE "C" NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  name text,
  groups text NOT NULL,
  sealed text NOT NULL,
  subject text COLLATE "C" NOT NULL,
  issuer_session text COLLATE "C",
  began_at bigint NOT NULL,
  used_at bigint NOT NULL,
  checked_at bigint NOT NULL,
  known_at bigint NOT NULL
);
CREATE INDEX sessions_of_person ON sessions (person, began_at);
CREATE INDEX sessions_by_use ON sessions (used_at, mac);
CREATE INDEX sessions_by_age ON sessions (began_at);
CREATE INDEX sessions_of_subject ON sessions (subject);
CREATE INDEX sessions_of_issuer ON sessions (issuer_session) WHERE issuer_session IS NOT NULL;

-- Keys of administrators go with them.
ALTER TABLE api_keys ADD COLUMN created_by_person text COLLATE "C" REFERENCES people (id) ON DELETE CASCADE;

-- Accounts of people at MCP servers: `sealed` holds the tokens, encrypted; `claimed_at` is when a server began to renew them.
CREATE TABLE mcp_accounts (
  owner text COLLATE "C" NOT NULL,
  connection text COLLATE "C" NOT NULL,
  sealed text NOT NULL,
  connected_at bigint NOT NULL,
  claimed_at bigint NOT NULL,
  PRIMARY KEY (owner, connection)
);

CREATE TABLE audit (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  who text COLLATE "C" NOT NULL,
  address text COLLATE "C",
  action text COLLATE "C" NOT NULL,
  status integer,
  targets text NOT NULL
);
CREATE INDEX audit_of_who ON audit (who, number);
CREATE INDEX audit_of_action ON audit (action, number);
CREATE INDEX audit_by_time ON audit (at);
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'the audit log is only appended to'; END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit
  EXECUTE FUNCTION audit_is_append_only();
