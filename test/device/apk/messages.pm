package apk::messages;

# What apk says, line by line at once: progress on stdout, errors and warnings on stderr. Of a command
# that writes all goes to the log, too.
use strict;
use exports qw(message notice warning failure give_up finish set_quiet open_log human_size not_acted_out
    written_at_once timestamp);

my $is_quiet = 0;
my $log;

$| = 1;

sub set_quiet { $is_quiet = $_[0] }

sub is_quiet { return $is_quiet }

sub message { write_line(\*STDOUT, "$_[0]\n") if !$is_quiet }

sub notice { write_line(\*STDERR, "$_[0]\n") if !$is_quiet }

sub warning { write_line(\*STDERR, "WARNING: $_[0]\n") }

sub failure { write_line(\*STDERR, "ERROR: $_[0]\n") }

# apk cannot begin: 99.
sub give_up {
    failure($_) for @_;
    finish(99);
}

sub finish { exit $_[0] }

sub not_acted_out {
    print STDERR "stand-in for apk: not acted out: $_[0]\n";
    exit 64;
}

sub write_line {
    my ($output, $line) = @_;
    print $output $line;
    print $log $line if $log;
}

sub open_log {
    my ($run, @words) = @_;
    my $path = "$run->{root}/var/log/apk.log";
    if (!open($log, '>>', $path)) {
        mkdir "$run->{root}/var/log", 0755;
        open($log, '>>', $path) or give_up("Unable to open log: $!");
    }
    written_at_once($log);
    my $now = timestamp('%04d-%02d-%02d %02d:%02d:%02d', localtime);
    print $log "\nRunning `apk @words` at $now\napk-tools 3.0.5, compiled for x86_64.\n";
}

# Without the modules that do this, which take as long to load as all of the others.
sub written_at_once { my $before = select $_[0]; $| = 1; select $before }

sub timestamp {
    my ($format, $second, $minute, $hour, $day, $month, $year) = @_;
    return sprintf $format, $year + 1900, $month + 1, $day, $hour, $minute, $second;
}

my @UNITS = ('B', 'KiB', 'MiB', 'GiB', 'TiB');

# Four digits of a unit are enough; from MiB on with one decimal.
sub human_size {
    my ($bytes) = @_;
    my $unit = 0;
    for (; $bytes >= 10000 && $unit < $#UNITS; $unit++) { $bytes /= 1024 }
    return sprintf($unit < 2 ? '%d %s' : '%.1f %s', $bytes, $UNITS[$unit]);
}

1;
