/** As many as a chat retrieves at least, and about as long. */
export const PASSAGES = [
  passage(
    'Numbers',
    'One, two, three, four, five, six, seven, eight, nine, ten. The first nine have one digit, and ten is the first that has two. Counting begins at one for things on a table and at zero for the floors of a house in many countries. Twelve are a dozen, twenty are a score, and a hundred and forty-four are a gross. Numbers above a hundred are written in digits, except at the beginning of a sentence.',
  ),
  passage(
    'Days of the week',
    'Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday. The library opens at nine on weekdays and at ten on Saturdays; on Sundays and public holidays it is closed. Books may be returned at any hour through the flap beside the door. Loans last for four weeks and may be extended twice, unless somebody else waits for the book. The reading room has forty seats, which cannot be reserved.',
  ),
  passage(
    'Months',
    'January, February, March, April, May, June, July, August, September, October, November, December. April, June, September and November have thirty days, February has twenty-eight or twenty-nine, and all others have thirty-one. The accounts are closed at the end of June, and the inventory is taken in the first week of July. Requests for the next year have to arrive by the fifteenth of October.',
  ),
]

function passage(title: string, text: string) {
  const id = title.toLowerCase()
  return { id, documentId: id, title, text, score: 1, start: 0, end: text.length }
}

/** A PNG of 64 × 64 pixels: some models refuse smaller ones. */
export const RED_SQUARE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsAtx/ZMZxgi+hcEKLNO+FgEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQGBywKqxUDxqh7TUQAAAABJRU5ErkJggg=='
