/**
 * Counts down the characters of an answer that a recording may still hold. It keeps an endless
 * answer from filling the memory.
 */
export class CharacterAllowance {
  #left: number;
  #exceeded = false;

  constructor(characters: number) {
    this.#left = characters;
  }

  /** Whether something was left out. */
  get exceeded(): boolean {
    return this.#exceeded;
  }

  /**
   * Takes characters from the allowance.
   *
   * @returns false if fewer are left: the caller then leaves out what they were for
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
