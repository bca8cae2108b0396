package apk::progress;

# What --progress-fd gets: how much is done of all, in bytes and a share for each package.
use strict;
use exports qw(start_progress end_progress_item);
use apk::messages;

my $PACKAGE_SHARE = 65536;

sub start_progress {
    my ($run, $stage, @sizes) = @_;
    return if !defined $run->{progress_fd} || !@sizes;
    open(my $output, '>>&', $run->{progress_fd}) or return;
    written_at_once($output);
    my $total = 0;
    $total += $_ + $PACKAGE_SHARE for @sizes;
    return { output => $output, stage => $stage, done => 0, total => $total };
}

sub end_progress_item {
    my ($progress, $size) = @_;
    return if !$progress;
    for my $step ($size, $PACKAGE_SHARE) {
        $progress->{done} += $step;
        print { $progress->{output} } "$progress->{done}/$progress->{total} $progress->{stage}\n";
    }
}

1;
