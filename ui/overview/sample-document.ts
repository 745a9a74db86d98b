/** A document of an invented library, to try the server with; written for it. */
export const SAMPLE = {
  id: 'sample-library-handbook',
  title: 'Handbook of the Riverside Library (sample)',
  text: `# Handbook of the Riverside Library

This handbook is a sample. The library is invented; delete the document whenever you like.

## Opening hours

The library opens from 9 am to 7 pm on weekdays and from 10 am to 2 pm on Saturdays. It is closed on Sundays and on public holidays.

## Membership

A library card is free for everybody under 18 and costs 15 euros a year for adults. Bring a photo ID and proof of address. A lost card is replaced for 4 euros.

## Borrowing

You can borrow up to 20 items at a time. Books are lent for four weeks, films and games for one week. A loan is extended twice at most, unless another member has reserved the item.

| Item | Loan period | Late fee per day |
| --- | --- | --- |
| Book | 4 weeks | 0.20 euros |
| Film or game | 1 week | 0.50 euros |
| Tool | 3 days | 2.00 euros |

## Lost and damaged items

Report a lost item within seven days. You pay its price at the time of purchase, and a handling fee of 5 euros. The fee is waived if you bring a replacement of the same edition.

## Rooms

Study rooms are booked online up to 14 days ahead, for three hours at most. A booking lapses if nobody arrives within 15 minutes.
`,
}

/** Answered by the sample. */
export const SAMPLE_QUESTIONS = [
  'What do I pay for a lost item?',
  'When is the library open on Saturdays?',
  'How long can I keep a film?',
] as const
