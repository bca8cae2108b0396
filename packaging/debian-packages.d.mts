export interface DebianPackage {
  name: string;
  command: string;
  whose: string;
}

export function missingPackages(purpose: string): DebianPackage[];
export function isOnPath(command: string): boolean;
