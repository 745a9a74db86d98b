-- What models have cost, and whom: one row a day for the same owners, agent and model, and one for what is held for each
-- call under way. `cost` is in billionths of the currency; `groups` names a set in `usage_groups`.

CREATE TABLE model_usage (
  number INTEGER PRIMARY KEY,
  day INTEGER NOT NULL,
  person TEXT NOT NULL,
  key TEXT NOT NULL,
  payer TEXT NOT NULL,
  groups TEXT NOT NULL,
  agent TEXT NOT NULL,
  model TEXT NOT NULL,
  hold TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL,
  UNIQUE (day, person, key, payer, groups, agent, model, hold)
) STRICT;
CREATE INDEX usage_of_key ON model_usage (day, key);
CREATE INDEX usage_of_payer ON model_usage (day, payer) WHERE payer <> '';
CREATE INDEX usage_of_person ON model_usage (person);
CREATE INDEX usage_of_groups ON model_usage (groups, day);
CREATE INDEX held_usage ON model_usage (hold) WHERE hold <> '';

CREATE TABLE usage_groups (
  groups TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (groups, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_groups_by_name ON usage_groups (name);

-- What an administrator allows one person in a day; the cost is in billionths, too.
ALTER TABLE people ADD COLUMN tokens_per_day INTEGER;
ALTER TABLE people ADD COLUMN cost_per_day REAL;
ALTER TABLE api_keys ADD COLUMN cost_per_day REAL;
