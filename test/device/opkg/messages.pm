package opkg::messages;

# What opkg says and when it can be seen. Progress goes to stdout, which the C library buffers: by the block into a pipe
# or a file, by the line on a terminal. Errors are collected and come on stderr at the very end, before the last block
# of stdout. Perl's own buffers are not used, because perl empties them at every fork.
use strict;
use exports qw(say_text notice failure continued_failure system_failure finish print_failures flush_text set_verbosity);

my $BLOCK = 4096;
my $INTERRUPTED = 4;

my $verbosity = 1;
my $pending = '';
my @failures;
my $on_terminal = -t STDOUT;

sub set_verbosity { $verbosity = $_[0] }

sub say_text {
    $pending .= $_[0];
    if ($on_terminal) {
        my $end = rindex($pending, "\n") + 1;
        write_out(substr($pending, 0, $end, '')) if $end;
        return;
    }
    write_out(substr($pending, 0, $BLOCK, '')) while length $pending >= $BLOCK;
}

sub notice { say_text($_[0]) if $verbosity >= 1 }

# Each failure names the part of opkg that met it.
sub failure {
    my ($where, $text) = @_;
    push @failures, "$where: $text\n" if $verbosity >= 0;
}

sub continued_failure { push @failures, $_[0] if $verbosity >= 0 }

sub system_failure {
    my ($where, $text) = @_;
    failure($where, "$text: $!.");
}

sub print_failures {
    return if !@failures;
    print STDERR "Collected errors:\n", map { " * $_" } @failures;
}

sub flush_text {
    write_out($pending);
    $pending = '';
}

sub finish {
    flush_text();
    exit $_[0];
}

sub write_out {
    my ($text) = @_;
    while (length $text) {
        my $written = syswrite(STDOUT, $text);
        next if !defined $written && $! == $INTERRUPTED;
        return if !defined $written;
        substr($text, 0, $written, '');
    }
}

1;
