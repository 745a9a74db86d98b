-- What models have cost, and whom: one row a day for the same owners, agent and model, and one for what is held for each
-- call under way. `cost` is in billionths of the currency; `groups` names a set in `usage_groups`.

CREATE TABLE model_usage (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  day integer NOT NULL,
  person text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  payer text COLLATE "C" NOT NULL,
  groups text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  hold text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cost bigint NOT NULL,
  unpriced_calls bigint NOT NULL,
  UNIQUE (day, person, key, payer, groups, agent, model, hold)
);
CREATE INDEX usage_of_key ON model_usage (day, key);
CREATE INDEX usage_of_payer ON model_usage (day, payer) WHERE payer <> '';
CREATE INDEX usage_of_person ON model_usage (person);
CREATE INDEX usage_of_groups ON model_usage (groups, day);
CREATE INDEX held_usage ON model_usage (hold) WHERE hold <> '';

CREATE TABLE usage_groups (
  groups text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (groups, name)
);
CREATE INDEX usage_groups_by_name ON usage_groups (name);

-- What an administrator allows one person in a day; the cost is in billionths, too.
ALTER TABLE people ADD COLUMN tokens_per_day bigint;
ALTER TABLE people ADD COLUMN cost_per_day double precision;
ALTER TABLE api_keys ADD COLUMN cost_per_day double precision;
