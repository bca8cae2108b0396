package opkg::remove;

# Taking packages away: those that depend on them, their scripts, their files, and what only they needed.
use strict;
use exports qw(remove_package remove_files remove_scripts count_dependents);
use opkg::catalogue;
use opkg::conffiles;
use opkg::files;
use opkg::messages;
use opkg::process;
use opkg::stanza;

# Returns true when all went well; a failing postrm makes it false although the package is gone.
sub remove_package {
    my ($run, $package) = @_;
    return 0 if $package->{essential} && !may_remove_essential($run, $package);
    return 1 if $run->{force_removal_of_dependent_packages} && $package->{flags} & $FLAG->{list_changed}
        && $package->{state} eq 'not-installed';
    if (!$run->{force_depends} && !($package->{flags} & $FLAG->{replace})) {
        return 0 if !are_dependents_out_of_the_way($run, $package);
    }
    notice("Removing package $package->{name} from $package->{dest}{name}...\n");
    $package->{flags} |= $FLAG->{list_changed};
    $package->{want} = 'deinstall';
    $run->{changes}++;
    if (run_script($run, $package, ['prerm', 'remove']) && !$run->{force_remove}) {
        failure('opkg_remove_pkg', "not removing package \"$package->{name}\", prerm script failed");
        notice("You can force removal of packages with failed prerm scripts with the option: \n\t--force-remove\n");
        return 0;
    }
    remove_files($run, $package);
    my $is_fine = !run_script($run, $package, ['postrm', 'remove']);
    remove_scripts($run, $package);
    $_->{state} = 'not-installed' for $package, $package->{entry};
    return (!$run->{autoremove} || remove_auto_installed($run, $package)) && $is_fine;
}

sub may_remove_essential {
    my ($run, $package) = @_;
    if ($run->{force_removal_of_essential_packages}) {
        notice("Removing essential package $package->{name} under your coercion.\n"
            . "\tIf your system breaks, you get to keep both pieces\n");
        return 1;
    }
    notice("Refusing to remove essential package $package->{name}.\n"
        . "\tRemoving an essential package may lead to an unusable system, but if\n"
        . "\tyou enjoy that kind of pain, you can force opkg to proceed against\n"
        . "\tits will with the option: --force-removal-of-essential-packages\n");
    return 0;
}

# Names are counted as often as they were met, in a list and in the status file.
sub dependents_of {
    my ($run, $package) = @_;
    my @met = map { @{ name_entry($run, $_)->{dependents} } } @{ $package->{provides} };
    return grep { $_->{state} eq 'installed' } @met;
}

sub count_dependents { return scalar(my @dependents = dependents_of(@_)) }

sub are_dependents_out_of_the_way {
    my ($run, $package) = @_;
    my %seen;
    my @dependents = grep { !$seen{ $_->{name} }++ } dependents_of($run, $package) or return 1;
    return remove_dependents($run, $package, @dependents) if $run->{force_removal_of_dependent_packages};
    my $say = sub { failure('print_dependents_warning', $_[0]) };
    $say->("Package $package->{name} is depended upon by packages:");
    $say->("\t$_->{name}") for @dependents;
    $say->("These might cease to work if package $package->{name} is removed.\n");
    $say->('Force removal of this package with --force-depends.');
    $say->('Force removal of this package and its dependents');
    $say->('with --force-removal-of-dependent-packages.');
    return 0;
}

# Each name is gone through once, so that a circle ends.
sub remove_dependents {
    my ($run, $package, @dependents) = @_;
    return 1 if ($package->{entry}{resolved} // 0) == 2;
    $package->{entry}{resolved} = 2;
    my @open = grep { ($_->{resolved} // 0) != 2 } @dependents;
    for my $dependent (grep { $_->{state} eq 'installed' } map { @{ $_->{packages} } } @open) {
        return 0 if !remove_package($run, $dependent);
    }
    return 1;
}

sub remove_auto_installed {
    my ($run, $package) = @_;
    my $is_fine = 1;
    for my $possibility (map { @$_ } @{ $package->{depends} // [] }) {
        my $needed = installed_by_name($run, $possibility->{name}) or return 0;
        next if !$needed->{auto_installed} || count_dependents($run, $needed);
        notice("$needed->{name} was autoinstalled and is now orphaned, removing.\n");
        $is_fine = 0 if !remove_package($run, $needed);
    }
    return $is_fine;
}

# Files that another package has claimed stay, and so do folders: no list has them.
sub remove_files {
    my ($run, $package) = @_;
    for my $path (files_of($run, $package)) {
        next if (owner_of($run, $path) // 0) != $package || -d $path;
        my $conffile = conffile_of($package, without_root($run, $path));
        if ($conffile && is_modified($run, $conffile)) {
            notice("Not deleting modified conffile $path.\n");
            next;
        }
        unlink $path if !$run->{noaction};
        disown($run, $path);
    }
    unlink "$package->{dest}{info}/$package->{name}.list" if !$run->{noaction};
}

# Everything that begins with the name and a dot: of a package "a.b" too when "a" goes.
sub remove_scripts {
    my ($run, $package) = @_;
    return if $run->{noaction};
    opendir(my $listing, $package->{dest}{info}) or return;
    unlink map { "$package->{dest}{info}/$_" } grep { /^\Q$package->{name}\E\./ } readdir $listing;
}

1;
