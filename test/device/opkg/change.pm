package opkg::change;

# The sub-commands that change something. Each of them but configure answers SIGINT by writing the status files and
# leaving with 130; its temporary folder and lock file stay. SIGTERM ends opkg where it stands.
use strict;
use exports qw(update install upgrade remove configure flag);
use opkg::catalogue;
use opkg::configuration;
use opkg::messages;
use opkg::pattern;
use opkg::stanza;
use later 'opkg::archive' => qw(control_members extract);
use later 'opkg::download' => qw(download is_signed);
use later 'opkg::files' => 'learn_owners';
use later 'opkg::install' => qw(install_by_name upgrade_package);
use later 'opkg::process' => qw(run_script start_intercepts finish_intercepts);
use later 'opkg::remove' => 'remove_package';

sub update {
    my ($run) = @_;
    make_folders($run->{lists_dir}) or return 255;
    my $failures = 0;
    for my $source (@{ $run->{sources} }) {
        my $url = "$source->{url}/" . ($source->{gzip} ? 'Packages.gz' : 'Packages');
        my $list = "$run->{lists_dir}/$source->{name}";
        if (!download($run, $url, $list)) {
            $failures++;
            notice("*** Failed to download the package list from $url\n\n");
            next;
        }
        notice("Updated list of available packages in $list\n");
        $failures += check_list($run, $source, $list) if $run->{check_signature};
    }
    return $failures;
}

# A signature that does not fit is no failure: the list is deleted and the exit code stays.
sub check_list {
    my ($run, $source, $list) = @_;
    my $is_fetched = download($run, "$source->{url}/Packages.sig", "$list.sig");
    my $is_good = $is_fetched && is_signed($run, $list);
    notice("Signature file download failed.\n") if !$is_fetched;
    notice('Signature check ' . ($is_good ? 'passed' : 'failed') . ".\n") if $is_fetched;
    if (!$is_good && !$run->{force_signature}) {
        notice("Remove wrong Signature file.\n");
        unlink "$list.sig", $list;
    }
    return $is_fetched ? 0 : 1;
}

sub install {
    my ($run, @names) = @_;
    $run->{arguments} = \@names;
    answer_interrupts($run);
    for (@names) { prepare($run, \$_) or return 255 }
    load_needed_lists($run);
    load_status($run);
    if ($run->{force_reinstall}) {
        local $run->{force_depends} = 1;
        remove($run, @names);
        $run->{force_reinstall} = 0;
    }
    learn_owners($run, installed_packages($run));
    my $code = 0;
    for my $name (@names) {
        next if install_by_name($run, $name);
        failure('opkg_install_cmd', "Cannot install package $name.");
        $code = 255;
    }
    return finish_change($run, $code);
}

sub upgrade {
    my ($run, @names) = @_;
    $run->{arguments} = \@names;
    answer_interrupts($run);
    for my $name (@names) { prepare($run, \(my $copy = $name)) or return 255 }
    learn_owners($run, installed_packages($run));
    my $code = 0;
    for my $name (@names) {
        my $old = removable_by_name($run, $name);
        if (!$old && $run->{only_default_destination}) {
            notice("Package $name not installed in $run->{default_destination}{name}.\n");
            next;
        }
        my $is_done = $old ? upgrade_package($run, $old) : install_by_name($run, $name);
        $code = 255 if !$is_done;
    }
    return finish_change($run, $code);
}

sub finish_change {
    my ($run, $code) = @_;
    $code = 255 if !configure_packages($run);
    write_status($run);
    return $code;
}

# An address or a file becomes a package; its name takes the argument's place.
sub prepare {
    my ($run, $word) = @_;
    my $path = $$word;
    if ($path =~ m{^(https?|ftps?)://}) {
        $path = "$run->{tmp_dir}/" . $path =~ s{.*/}{}sr;
        return 0 if !download($run, $$word, $path);
    } elsif ($path !~ /\.(opk|ipk|deb)\z/) {
        name_entry($run, $path)->{flags} |= $FLAG->{needed};
        return 1;
    }
    my $package = read_package_file($run, $path) or return 0;
    $package->{by_hand} = $path eq $$word;
    insert_package($run, $package, 1);
    $$word = $package->{name};
    return 1;
}

sub read_package_file {
    my ($run, $path) = @_;
    my $archive = { local_file => $path };
    my $members = control_members($run, $archive);
    if (!$members) { failure('pkg_init_from_file', "Failed to extract control file from $path."); return }
    my ($control) = grep { $_->{name} =~ m{^(\./)?control\z} } @$members;
    my @lines = split /^/, $control ? $control->{content} : '';
    my $package = read_stanza(\@lines, reading_hooks($run));
    if (!$package) { failure('pkg_init_from_file', "Malformed package file $path."); return }
    return { %$package, local_file => $path, dest => $run->{default_destination}, want => 'install',
        flags => $package->{flags} | $FLAG->{needed} | $FLAG->{prefer} };
}

sub remove {
    my ($run, @patterns) = @_;
    answer_interrupts($run);
    my @installed = installed_packages($run);
    learn_owners($run, @installed);
    my ($code, $has_removed) = (0, 0);
    for my $pattern (map { name_pattern($run, $_) } @patterns) {
        for my $package (grep { $_->{name} =~ $pattern } @installed) {
            my $target = removable_by_name($run, $package->{name});
            if (!$target) { failure('opkg_remove_cmd', "Package $package->{name} is not installed."); next }
            remove_package($run, $target) ? $has_removed = 1 : ($code = 255);
        }
    }
    notice("No packages removed.\n") if !$has_removed;
    write_status($run);
    return $code;
}

sub configure {
    my ($run, $name) = @_;
    my $code = configure_packages($run, $name) ? 0 : 255;
    write_status($run);
    return $code;
}

# Every package that is unpacked, whoever left it so; what others depend on comes first.
sub configure_packages {
    my ($run, $pattern) = @_;
    my $is_fine = 1;
    my $intercepts = start_intercepts($run);
    for my $package (in_order_of_dependency($run)) {
        next if $package->{state} ne 'unpacked' || defined $pattern && $package->{name} !~ name_pattern($run, $pattern);
        notice("Configuring $package->{name}.\n");
        my $code = run_script($run, $package, ['postinst', 'configure']);
        if ($code) {
            failure('opkg_configure', "$package->{name}.postinst returned $code.");
            $is_fine = 0;
            next;
        }
        $_->{state} = 'installed' for $package, $package->{entry};
        $package->{flags} &= ~$FLAG->{prefer};
        $run->{changes}++;
    }
    finish_intercepts($intercepts);
    return $is_fine;
}

sub in_order_of_dependency {
    my ($run) = @_;
    my @present = grep { $_->{state} ne 'not-installed' } all_packages($run);
    my (%seen, @ordered);
    my $visit;
    $visit = sub {
        my ($package) = @_;
        return if $seen{ $package->{name} }++;
        for my $possibility (map { @$_ } @{ $package->{depends} // [] }) {
            my @providers = @{ name_entry($run, $possibility->{name})->{provided_by} };
            my ($needed) = map { my $name = $_->{name}; grep { $_->{name} eq $name } @present } @providers;
            $visit->($needed) if $needed;
        }
        push @ordered, $package;
    };
    $visit->($_) for @present;
    return @ordered;
}

sub flag {
    my ($run, $word, @names) = @_;
    answer_interrupts($run);
    for my $name (@names) {
        my $package = removable_by_name($run, $name);
        if (!$package) { failure('opkg_flag_cmd', "Package $name is not installed."); next }
        $package->{flags} = flag_bits($word) if $word =~ /^(hold|noprune|user|ok)\z/;
        $package->{state} = $word if $word =~ /^(installed|unpacked)\z/;
        $run->{changes}++;
        notice("Setting flags for package $package->{name} to $word.\n");
    }
    write_status($run);
    return 0;
}

sub answer_interrupts {
    my ($run) = @_;
    $SIG{INT} = sub {
        $SIG{INT} = 'DEFAULT';
        notice("Interrupted. Writing out status database.\n");
        write_status($run);
        finish(130);
    };
}

1;
