import { Sketch } from './sketch.ts';

/** What is known of numbers that were added: exact but for percentiles. */
export class Numbers {
  count = 0;
  sum = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** Null if no percentiles are wanted. */
  readonly sketch: Sketch | null;

  constructor(withSketch: boolean) {
    this.sketch = withSketch ? new Sketch() : null;
  }

  /** Adds a number, which is finite. */
  add(value: number): void {
    this.count++;
    this.sum += value;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    this.sketch?.add(value);
  }

  /** Adds all that others have. If this one has a sketch, so must the other. */
  merge(other: Numbers): void {
    this.count += other.count;
    this.sum += other.sum;
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
    if (this.sketch && other.sketch) this.sketch.merge(other.sketch);
  }
}
