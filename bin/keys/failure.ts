/** Something that stands in the way of the command; its message says what to do about it. */
export class Failure extends Error {
  override readonly name = 'Failure';
}
