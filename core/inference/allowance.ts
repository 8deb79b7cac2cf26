/**
 * How much of an answer may still be kept for its record, in characters; an answer without end must
 * not fill the memory.
 */
export class CharacterAllowance {
  #left: number;
  #exceeded = false;

  constructor(characters: number) {
    this.#left = characters;
  }

  /** Whether something had to be left out. */
  get exceeded(): boolean {
    return this.#exceeded;
  }

  /**
   * Takes so many characters if they are there; where they are not, what they are for is to be left
   * out.
   */
  take(characters: number): boolean {
    if (characters > this.#left) {
      this.exceed();
      return false;
    }
    this.#left -= characters;
    return true;
  }

  /** Notes that something was left out. */
  exceed(): void {
    this.#exceeded = true;
  }
}
