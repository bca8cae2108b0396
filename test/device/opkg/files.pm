package opkg::files;

# Which package owns which file, and the NAME.list files. Paths are kept without the offline root; folders have no owner
# and stand in no list.
use strict;
use exports qw(
    files_of owner_of claim disown learn_owners transfer_ownership write_list write_changed_lists rewrite without_root
    checksum_of);
use compiled;
use opkg::messages;
use opkg::stanza;
use later 'opkg::archive' => 'data_members';

my $BLOCK = 4096;

# Full paths: of an installed package from its list, of another from its archive.
sub files_of {
    my ($run, $package) = @_;
    return files_in_archive($run, $package) if $package->{state} eq 'not-installed' || !$package->{dest};
    my $path = "$package->{dest}{info}/$package->{name}.list";
    if (!open(my $file, '<', $path)) {
        system_failure('pkg_get_installed_files', "Failed to open $path");
        return ();
    } else {
        chomp(my @names = <$file>);
        my $root = $run->{offline_root} // '';
        return map { index($_, $root) == 0 ? $_ : $root . $_ } @names;
    }
}

sub files_in_archive {
    my ($run, $package) = @_;
    return () if !$package->{local_file};
    return map { $package->{dest}{root} . $_->{name} =~ s{^\.?/?}{}r } @{ data_members($run, $package) // [] };
}

sub without_root {
    my ($run, $path) = @_;
    my $root = $run->{offline_root} // '';
    return index($path, $root) == 0 ? substr($path, length $root) : $path;
}

sub owner_of {
    my ($run, $path) = @_;
    return $run->{owners}->get(without_root($run, $path));
}

sub claim {
    my ($run, $path, $package) = @_;
    return if $path =~ m{/\z};
    my $key = without_root($run, $path);
    my $before = $run->{owners}->get($key);
    $run->{owners}->set($key, $package);
    $_->{flags} |= $FLAG->{list_changed} for $before ? ($before, $package) : ();
}

sub disown {
    my ($run, $path) = @_;
    $run->{owners}->remove(without_root($run, $path));
}

sub learn_owners {
    my ($run, @installed) = @_;
    for my $package (@installed) { claim($run, $_, $package) for files_of($run, $package) }
}

# Files of the old version that the new one also has change hands; the others become obsolete.
sub transfer_ownership {
    my ($run, $package, $old) = @_;
    for my $path (files_of($run, $package)) {
        my $owner = owner_of($run, $path);
        claim($run, $path, $package) if !$owner || ($old && $owner == $old) || $run->{obsolete}{$path};
    }
    return if !$old;
    for my $path (files_of($run, $old)) {
        my $owner = owner_of($run, $path);
        $run->{obsolete}{$path} = $old if !$owner || $owner == $old;
    }
}

sub write_list {
    my ($run, $package) = @_;
    my $text = join '', map { "$_\n" } grep { ($run->{owners}->get($_) // 0) == $package } $run->{owners}->keys_in_order;
    rewrite("$package->{dest}{info}/$package->{name}.list", $text);
    $package->{flags} &= ~$FLAG->{list_changed};
}

sub write_changed_lists {
    my ($run, @packages) = @_;
    write_list($run, $_) for @packages;
}

sub rewrite {
    my ($path, $text) = @_;
    if (!open(my $file, '>', $path)) {
        system_failure('opkg_conf_write_status_files', "Can't open status file $path");
    } else {
        syswrite($file, substr($text, 0, $BLOCK, '')) while length $text;
        close $file;
    }
}

# The kind is sha256sum or md5sum.
sub checksum_of {
    my ($kind, $path) = @_;
    if (!open(my $file, '<:raw', $path)) {
        system_failure("file_${kind}_alloc", "Failed to open file $path");
        return;
    } else {
        local $/;
        my $content = <$file> // return;
        compiled::load($kind eq 'md5sum' ? 'Digest::MD5' : 'Digest::SHA');
        return $kind eq 'md5sum' ? Digest::MD5::md5_hex($content) : Digest::SHA::sha256_hex($content);
    }
}

1;
