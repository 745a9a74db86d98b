-- Files that tools made. The number orders them by age: it is given out under the lock that makes the bounds exact.

CREATE TABLE artifacts (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  name text NOT NULL,
  media_type text NOT NULL,
  size integer NOT NULL,
  created_at bigint NOT NULL,
  bytes bytea NOT NULL
);
-- So that a slice is read without the rest.
ALTER TABLE artifacts ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- When it was made. Before that the oldest go, until there is room for it.
CREATE FUNCTION add_artifact(
  a_id text, a_name text, a_media_type text, a_bytes bytea, most bigint, most_bytes bigint, longest bigint
) RETURNS bigint LANGUAGE plpgsql SET search_path = agent_server, pg_temp AS $$
DECLARE moment bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(1097302902, 5);
  moment := now_ms();
  DELETE FROM artifacts WHERE created_at <= moment - longest;
  DELETE FROM artifacts WHERE number IN (
    SELECT number FROM (
      SELECT number, row_number() OVER newest AS place, sum(size) OVER newest AS sum
      FROM artifacts WINDOW newest AS (ORDER BY number DESC)
    ) AS kept WHERE place >= most OR sum + length(a_bytes) > most_bytes
  );
  INSERT INTO artifacts (id, name, media_type, size, created_at, bytes)
  VALUES (a_id, a_name, a_media_type, length(a_bytes), moment, a_bytes);
  RETURN moment;
END $$;
