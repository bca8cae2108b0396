package opkg::install;

# From a name to a package that is unpacked: versions compared, conflicts and space checked, file fetched and verified,
# dependencies installed first. What happens on the disk is in unpack.pm.
use strict;
use exports qw(install_by_name install_package upgrade_package);
use opkg::archive;
use opkg::candidate;
use opkg::catalogue;
use opkg::configuration;
use opkg::download;
use opkg::files;
use opkg::messages;
use opkg::stanza;
use opkg::version;
use later 'opkg::conffiles' => 'read_conffiles';
use later 'opkg::unpack' => 'unpack_package';

sub install_by_name {
    my ($run, $name) = @_;
    my $old = installed_by_name($run, $name);
    my $new = best_by_name($run, $name);
    if (!$new) { notice("Unknown package '$name'.\n"); return 0 }
    $new->{flags} |= $FLAG->{user};
    if ($old) {
        my $order = order_to_install($run, $old, $new);
        my $version = version_text($old->{version});
        if ($order == 0) { notice("Package $old->{name} ($version) installed in $old->{dest}{name} is up to date.\n"); return 1 }
        if ($order > 0) { refuse_downgrade($old, $new); return 1 }
        $new->{dest} = $old->{dest};
        $old->{want} = 'deinstall';
    }
    return install_package($run, $new, 0);
}

sub upgrade_package {
    my ($run, $old) = @_;
    if ($old->{flags} & $FLAG->{hold}) {
        notice(sprintf "Not upgrading package %s which is marked hold (flags=%#x).\n", $old->{name}, $old->{flags});
        return 1;
    }
    my $new = best_by_name($run, $old->{name});
    if (!$new) {
        notice("Assuming locally installed package $old->{name} (" . version_text($old->{version}) . ") is up to date.\n");
        return 1;
    }
    my $order = compare_versions($old->{version}, $new->{version});
    return 1 if $order == 0;
    if ($order > 0) { refuse_downgrade($old, $new); return 1 }
    $new->{dest} = $old->{dest};
    $old->{want} = 'deinstall';
    $new->{flags} |= $FLAG->{user};
    return install_package($run, $new, 1);
}

sub order_to_install {
    my ($run, $old, $new) = @_;
    my $order = compare_versions($old->{version}, $new->{version});
    return $order > 0 && $run->{force_downgrade} ? -1 : $order;
}

sub refuse_downgrade {
    my ($old, $new) = @_;
    my ($from, $to) = map { version_text($_->{version}) } $old, $new;
    notice("Not downgrading package $old->{name} on $old->{dest}{name} from $from to $to.\n");
}

# Returns true when the package is unpacked, or nothing had to be done.
sub install_package {
    my ($run, $package, $is_upgrade) = @_;
    if ($package->{state} eq 'installed' && !$run->{nodeps}) {
        return 0 if !install_dependencies($run, $package);
        notice("Package $package->{name} is already installed on $package->{dest}{name}.\n");
        return 1;
    }
    $package->{dest} //= $run->{default_destination};
    my $old = installed_by_name($run, $package->{name});
    return 0 if !announce($run, { package => $package, old => $old, is_upgrade => $is_upgrade });
    $package->{want} = 'install';
    $old->{want} = 'deinstall' if $old;
    return 0 if !has_no_conflict($run, $package);
    return 1 if $package->{state} eq 'installed';
    return 0 if !has_space($run, $package) || !is_fetched($run, $package) || !is_trusted($run, $package);
    return $run->{nodeps} || install_dependencies($run, $package) if $run->{download_only};
    return 0 if !unpack_control($run, $package);
    transfer_ownership($run, $package, $old);
    return 0 if !$run->{nodeps} && !install_dependencies($run, $package);
    # A circle of dependencies has unpacked it already.
    return 1 if !$run->{nodeps} && $package->{state} eq 'unpacked';
    return unpack_package($run, $package, $old);
}

sub announce {
    my ($run, $step) = @_;
    my ($package, $old) = @$step{qw(package old)};
    my $say = $run->{download_only} ? sub { } : \&notice;
    my $new_version = version_text($package->{version});
    if (!$old) {
        $say->(($step->{is_upgrade} ? 'Upgrading' : 'Installing') . " $package->{name} ($new_version) to $package->{dest}{name}...\n");
        return 1;
    }
    my $order = compare_versions($old->{version}, $package->{version});
    if ($order == 0) { $say->("$package->{name} ($new_version) already install on $old->{dest}{name}.\n"); return 0 }
    my $is_downgrade = $order > 0;
    if ($is_downgrade && !$run->{force_downgrade}) { refuse_downgrade($old, $package) if !$run->{download_only}; return 0 }
    my $verb = $is_downgrade ? 'Downgrading' : 'Upgrading';
    $say->("$verb $package->{name} on $old->{dest}{name} from " . version_text($old->{version}) . " to $new_version...\n");
    $package->{dest} = $old->{dest};
    return 1;
}

sub has_no_conflict {
    my ($run, $package) = @_;
    return 1 if $run->{force_depends};
    my @conflicts = conflicts_of($run, $package) or return 1;
    failure('check_conflicts_for', "The following packages conflict with $package->{name}:");
    continued_failure("check_conflicts_for: \t$_->{name}") for @conflicts;
    continued_failure("\n");
    return 0;
}

# The check looks at the overlay when there is one.
sub has_space {
    my ($run, $package) = @_;
    my $size = $package->{installed_size} or return 1;
    return 1 if $run->{force_space};
    my $overlay = $run->{overlay_root};
    my $folder = $package->{dest}{name} eq 'root' && defined $overlay && -d $overlay ? $overlay : $package->{dest}{root};
    my $available = available_kilobytes($folder);
    # Unsigned arithmetic: a size that turned negative is more than any disk has.
    my $needed = (unpack('Q', pack 'q', $size) + 1023) >> 10;
    return 1 if $needed < $available;
    failure('verify_pkg_installable', "Only have ${available}kb available on filesystem $folder, pkg $package->{name} needs $needed");
    return 0;
}

sub available_kilobytes {
    my ($folder) = @_;
    open(my $output, '-|', 'stat', '-f', '-c', '%S %a', '--', $folder) or return 0;
    my ($block, $count) = split ' ', <$output> // '';
    return 0 if !$block;
    return $block >= 1024 ? $count * int($block / 1024) : int($count / (1024 / $block));
}

sub is_fetched {
    my ($run, $package) = @_;
    return 1 if defined $package->{local_file};
    my $is_kept = $run->{download_only} && !defined $run->{cache};
    my $folder = $is_kept ? readlink '/proc/self/cwd' : $run->{tmp_dir};
    return 1 if download_package($run, $package, $folder);
    failure('opkg_install_pkg', "Failed to download $package->{name}. Perhaps you need to run 'opkg update'?");
    return 0;
}

sub is_trusted {
    my ($run, $package) = @_;
    if ($run->{check_signature} && $package->{origin}) {
        my $problem = signature_problem($run, $package);
        failure('opkg_install_pkg', $problem) if $problem;
        return 0 if $problem && !$run->{force_signature};
    }
    return 1 if is_intact($package, $package->{local_file});
    if ($run->{force_checksum}) { notice("Ignored $package->{name} checksum or size mismatch.\n"); return 1 }
    failure('opkg_install_pkg', "Checksum or size mismatch for package $package->{name}. "
        . "Either the opkg or the package index are corrupt. Try 'opkg update'.");
    return 0;
}

sub signature_problem {
    my ($run, $package) = @_;
    my $list = "$run->{lists_dir}/$package->{origin}{name}";
    return "Signature file is missing for $package->{name}. Perhaps you need to run 'opkg update'?" if !-e "$list.sig";
    return is_signed($run, $list) ? undef : "Failed to verify the signature of $list.";
}

sub unpack_control {
    my ($run, $package) = @_;
    return 1 if defined $package->{unpacked};
    $package->{unpacked} = temporary_name("$run->{tmp_dir}/$package->{name}-");
    mkdir $package->{unpacked}, 0700;
    extract(control_members($run, $package) // [], "$package->{unpacked}/");
    read_conffiles($run, $package);
    return 1;
}

sub install_dependencies {
    my ($run, $package) = @_;
    my $query = { package => $package, mark => 'resolved', found => [] };
    my $unresolved = missing_packages($run, $query);
    if (@$unresolved) {
        failure('satisfy_dependencies_for', "Cannot satisfy the following dependencies for $package->{name}:");
        continued_failure("\t$_\n") for @$unresolved;
        return 0 if !$run->{force_depends};
    }
    for my $needed (@{ $query->{found} }) {
        $needed->{dest} //= $package->{dest};
        $needed->{want} = 'install';
    }
    for my $needed (@{ $query->{found} }) {
        next if is_installed($needed);
        my $is_done = install_package($run, $needed, 0);
        $needed->{auto_installed} = 1;
        return 0 if !$is_done;
    }
    return 1;
}

1;
