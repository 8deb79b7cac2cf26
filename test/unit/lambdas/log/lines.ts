import { vi } from 'vitest';

/** The lines that a piece of work writes to standard output, parsed. */
export const linesOf = async (work: () => unknown): Promise<Record<string, unknown>[]> => {
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  try {
    await work();
  } finally {
    write.mockRestore();
  }
  return lines.map((line) => JSON.parse(line));
};
