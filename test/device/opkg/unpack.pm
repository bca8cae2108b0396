package opkg::unpack;

# The part of an installation that changes the disk. SIGINT is blocked meanwhile, for the maintainer scripts as well;
# with --noaction it stays blocked. Nothing is undone after the old version's postrm has run.
use strict;
use exports qw(unpack_package);
use compiled 'POSIX';
use opkg::archive;
use opkg::catalogue;
use opkg::conffiles;
use opkg::files;
use opkg::messages;
use opkg::process;
use opkg::stanza;
use opkg::version;
use later 'opkg::remove' => qw(remove_package remove_files remove_scripts count_dependents);

sub unpack_package {
    my ($run, $package, $old) = @_;
    my @replaced = replaced_packages($run, $package);
    my $interrupt = POSIX::SigSet->new(POSIX::SIGINT());
    POSIX::sigprocmask(POSIX::SIG_BLOCK(), $interrupt);
    $run->{changes}++;
    $package->{flags} |= $FLAG->{list_changed};
    if ($old) {
        remove_orphans($run, $old);
        $_->{is_upgrade} = 1 for $old, $package;
    }
    my $is_ready = is_prepared($run, { package => $package, old => $old, replaced => \@replaced });
    return 1 if $is_ready && $run->{noaction};
    put_in_place($run, $package, $old) if $is_ready;
    POSIX::sigprocmask(POSIX::SIG_UNBLOCK(), $interrupt);
    return $is_ready;
}

sub is_prepared {
    my ($run, $step) = @_;
    my ($package, $old) = @$step{qw(package old)};
    for my $other (@{ $step->{replaced} }) {
        $other->{flags} |= $FLAG->{replace};
        return 0 if !remove_package($run, $other);
    }
    my $new_version = version_text($package->{version});
    return 0 if $old && !is_old_script_fine($run, $old, ['prerm', "upgrade $new_version"]);
    my $preinst = $old ? 'upgrade ' . version_text($old->{version}) : 'install';
    if (run_script($run, $package, ['preinst', $preinst])) {
        failure('preinst_configure', "Aborting installation of $package->{name}.");
        return 0;
    }
    if (keep_modified_conffiles($run, $package, $old) && !clashes($run, $package, $old)
        && (!$old || is_old_script_fine($run, $old, ['postrm', "upgrade $new_version"]))) {
        return 1;
    }
    drop_kept_conffiles($package, $old);
    return 0;
}

sub is_old_script_fine {
    my ($run, $old, $call) = @_;
    return 1 if !run_script($run, $old, $call);
    failure("$call->[0]_upgrade_old_pkg", "$call->[0] script for package \"$old->{name}\" failed");
    return 0;
}

sub put_in_place {
    my ($run, $package, $old) = @_;
    if ($old) {
        $old->{want} = 'deinstall';
        remove_obsolete_files($run, $package, $old) if !($old->{flags} & $FLAG->{noprune});
        remove_files($run, $old);
        remove_scripts($run, $old);
    }
    extract(control_members($run, $package) // [], "$package->{dest}{info}/$package->{name}.");
    extract(data_members($run, $package) // [], $package->{dest}{root});
    write_list($run, $package);
    take_over_files($run, $package);
    forget_archive($package);
    resolve_conffiles($run, $package);
    $package->{state} = 'unpacked';
    $package->{flags} &= ~$FLAG->{prefer};
    $old->{state} = 'not-installed' if $old;
    $package->{installed_time} = time;
    $package->{entry}{state} = 'unpacked';
}

# A package that both replaces and conflicts with another takes its place.
sub replaced_packages {
    my ($run, $package) = @_;
    my %conflicting = map { $_->{name} => 1 } map { @$_ } @{ $package->{conflicts} // [] };
    my @candidates = map { @{ name_entry($run, $_)->{packages} // [] } } @{ $package->{replaces} // [] };
    return grep { $_->{state} eq 'installed' && grep { $conflicting{$_} } @{ $_->{provides} } } @candidates;
}

# Dependencies of the old version that came by themselves, if no other package, and not the new version, needs them.
sub remove_orphans {
    my ($run, $old) = @_;
    for my $possibility (map { @$_ } @{ $old->{depends} // [] }) {
        my $other = installed_by_name($run, $possibility->{name});
        next if !$other || !$other->{auto_installed} || count_dependents($run, $other) != 1;
        notice("$other->{name} was autoinstalled and is now orphaned, removing.\n");
        $other->{flags} |= $FLAG->{replace};
        remove_package($run, $other);
    }
}

# How many files of others stand in the way. Forced, they are taken over before anything is written.
sub clashes {
    my ($run, $package, $old) = @_;
    my $count = 0;
    for my $path (files_of($run, $package)) {
        next if !-e $path || -d $path || is_kept($path);
        if ($run->{force_overwrite}) { claim($run, $path, $package); next }
        my $owner = owner_of($run, $path);
        next if $owner && ($old && $owner->{name} eq $old->{name} || is_replacing($package, $owner) || $owner->{name} eq $package->{name});
        next if $run->{obsolete}{$path};
        continued_failure("check_data_file_clashes: Package $package->{name} wants to install file $path\n"
            . "\tBut that file is already provided by package ");
        continued_failure($owner ? "$owner->{name}\n" : "<no package>\nPlease move this file out of the way and try again.\n");
        $count++;
    }
    return $count;
}

sub is_replacing {
    my ($package, $owner) = @_;
    my %replaced = map { $_ => 1 } @{ $package->{replaces} // [] };
    return !!grep { $replaced{$_} } @{ $owner->{provides} };
}

sub take_over_files {
    my ($run, $package) = @_;
    for my $path (files_of($run, $package)) {
        next if !-e $path || -d $path;
        my $owner = owner_of($run, $path);
        claim($run, $path, $package) if $run->{force_overwrite} || $owner && is_replacing($package, $owner);
    }
}

sub remove_obsolete_files {
    my ($run, $package, $old) = @_;
    my %is_new = map { $_ => 1 } files_of($run, $package);
    for my $path (files_of($run, $old)) {
        next if $is_new{$path} || -d $path || (owner_of($run, $path) // 0) != $old;
        notice("Removing obsolete file $path.\n");
        unlink $path or system_failure('remove_obsolesced_files', "unlinking $path failed");
    }
}

1;
