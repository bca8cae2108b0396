package opkg::conffiles;

# Configuration files: what the user changed stays, and the new version's file is put beside it as NAME-opkg.
use strict;
use exports qw(read_conffiles conffile_of is_modified is_kept keep_modified_conffiles drop_kept_conffiles resolve_conffiles);
use opkg::files;
use opkg::messages;
use later 'opkg::download' => 'copy_file';

my $KEPT = '-opkg.backup';

# A package that was in the status file before keeps the list it has.
sub read_conffiles {
    my ($run, $package) = @_;
    return if @{ $package->{conffiles} // [] };
    open(my $file, '<', "$package->{unpacked}/conffiles") or return;
    my $root = without_root($run, $package->{dest}{root});
    $package->{conffiles} = [map { [$root . s{\s+\z}{}r =~ s{^/}{}r, undef] } grep { /\S/ } <$file>];
}

sub conffile_of {
    my ($package, $name) = @_;
    my ($found) = grep { $_->[0] eq $name } @{ $package->{conffiles} // [] };
    return $found;
}

sub is_modified {
    my ($run, $conffile) = @_;
    my ($name, $sum) = @$conffile;
    if (!defined $sum) { notice("Conffile $name has no md5sum.\n"); return 1 }
    return (checksum_of(program_for($sum), on_disk($run, $name)) // '') ne $sum;
}

sub program_for { return length $_[0] > 33 ? 'sha256sum' : 'md5sum' }

sub on_disk { return ($_[0]{offline_root} // '') . $_[1] }

# Before the new files are written: copies of those that the user changed, and of files that the old version did not
# know as configuration.
sub keep_modified_conffiles {
    my ($run, $package, $old) = @_;
    return 1 if $run->{noaction};
    for my $conffile (@{ ($old // {})->{conffiles} // [] }) {
        my $path = on_disk($run, $conffile->[0]);
        next if !-e $path || !is_modified($run, $conffile);
        return 0 if !copy_file($path, $path . $KEPT);
    }
    for my $conffile (@{ $package->{conffiles} // [] }) {
        my $path = on_disk($run, $conffile->[0]);
        next if $old && conffile_of($old, $conffile->[0]) || !-e $path || is_kept($path);
        return 0 if !copy_file($path, $path . $KEPT);
    }
    return 1;
}

sub is_kept { return -e $_[0] . $KEPT }

# After a failure. With an offline root opkg looks for the copies outside of it, so they stay.
sub drop_kept_conffiles {
    my (@packages) = @_;
    unlink map { $_->[0] . $KEPT } map { @{ $_->{conffiles} // [] } } grep { $_ } @packages;
}

sub resolve_conffiles {
    my ($run, $package) = @_;
    return if $run->{noaction};
    for my $conffile (@{ $package->{conffiles} // [] }) {
        my $path = on_disk($run, $conffile->[0]);
        $conffile->[1] //= checksum_of('sha256sum', $path);
        next if !-e $path || !is_kept($path);
        my $sum = checksum_of(program_for($conffile->[1] // ''), $path . $KEPT);
        restore($run, $path) if defined $sum && defined $conffile->[1] && $sum ne $conffile->[1];
        unlink $path . $KEPT;
    }
}

sub restore {
    my ($run, $path) = @_;
    if ($run->{force_maintainer}) { return notice("Conffile $path$KEPT using maintainer's setting.\n") }
    failure('resolve_conffiles', "Existing conffile $path is different from the conffile in the new package."
        . " The new conffile will be placed at $path-opkg.");
    rename $path, "$path-opkg";
    rename $path . $KEPT, $path;
}

1;
