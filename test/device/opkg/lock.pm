package opkg::lock;

# A POSIX record lock over the whole file, taken without waiting. flock(1) on the same file does not exclude it, and the
# file is removed at the end, so that a name does not stand for a lock.
use strict;
use exports qw(take_lock release_lock);
use compiled 'Fcntl';
use opkg::messages;

# struct flock of 64-bit Linux: type, whence, start, length, pid.
my $FLOCK = 's s x![q] q q i x4';

sub take_lock {
    my ($path) = @_;
    if (!sysopen(my $file, $path, Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_TRUNC(), 0640)) {
        system_failure('opkg_conf_load', "Could not create lock file $path");
        return;
    } elsif (!fcntl($file, Fcntl::F_SETLK(), pack($FLOCK, Fcntl::F_WRLCK(), Fcntl::SEEK_SET(), 0, 0, 0))) {
        system_failure('opkg_conf_load', "Could not lock $path");
        return;
    } else {
        return { path => $path, file => $file };
    }
}

sub release_lock {
    my ($lock) = @_;
    close $lock->{file};
    unlink $lock->{path};
}

1;
