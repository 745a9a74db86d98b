-- Tells this database from every other: an index that was made of another one is of no use.

INSERT INTO meta VALUES ('identity', abs(random() >> 11));
