-- Judged questions. Once released, this file is never changed: see `migrate.ts`.

CREATE TABLE judged_questions (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  json text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL
);
