process.stdout.write('depotctl\n');
