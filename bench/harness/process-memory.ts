import { readdirSync, readFileSync } from 'node:fs';

/** The memory that a process and what it started hold, in MB (10⁶ bytes); 0 if it is not known. */
export interface ProcessMemory {
  /** This process, with all of its threads. */
  readonly service: number;
  /** The Java processes below it: DynamoDB Local. */
  readonly java: number;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const residentMb = (pid: number): number => {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return Math.round((Number(kilobytes) * 1024) / 1e6);
};

/** The processes that a process started, and those that they did. */
const below = (pid: number): number[] => {
  const threads = (() => {
    try {
      return readdirSync(`/proc/${pid}/task`);
    } catch {
      return [];
    }
  })();
  const children = threads.flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return [...children, ...children.flatMap(below)];
};

/** Reads it from `/proc`, which only Linux has. */
export const processMemory = (): ProcessMemory => {
  const javas = below(process.pid).filter((pid) => read(`/proc/${pid}/comm`).startsWith('java'));
  return {
    service: Math.round(process.memoryUsage.rss() / 1e6),
    java: javas.reduce((sum, pid) => sum + residentMb(pid), 0),
  };
};
