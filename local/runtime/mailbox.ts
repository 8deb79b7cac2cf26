/** A queue between one sender and one receiver. */
export class Mailbox<Message> {
  readonly #messages: Message[] = [];
  #waiting: ((message: Message) => void) | undefined;

  /** Adds a message. */
  send(message: Message): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(message);
    else this.#messages.push(message);
  }

  /** Removes the oldest message as soon as there is one. Only one caller may wait. */
  next(): Promise<Message> {
    const message = this.#messages.shift();
    if (message !== undefined) return Promise.resolve(message);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}
