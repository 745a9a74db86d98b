-- Judged questions, and what was measured with them. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE judged_questions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  json text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);

CREATE TABLE evaluation_runs (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  state text COLLATE "C" NOT NULL,
  json text NOT NULL,
  asked bigint NOT NULL,
  total bigint NOT NULL,
  error text,
  report text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
