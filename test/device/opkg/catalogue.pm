package opkg::catalogue;

# Every name that opkg has met, each with the packages of that name: those of the lists and those of the status files.
# `install` reads only what it needs: it goes over the lists until no further name turns out to be needed.
use strict;
use exports qw(
    create_catalogue name_entry insert_package reading_hooks load_lists load_needed_lists load_status each_listed_package
    all_packages installed_packages is_installed installed_by_name removable_by_name priority write_status);
use opkg::messages;
use opkg::stanza;
use opkg::table;
use opkg::version;
use later 'opkg::archive' => 'inflate';
use later 'opkg::files' => qw(write_changed_lists rewrite);

sub create_catalogue {
    my ($run) = @_;
    $run->{names} = opkg::table->new;
    $run->{owners} = opkg::table->new;
    $run->{obsolete} = {};
    $run->{changes} = 0;
}

sub name_entry {
    my ($run, $name) = @_;
    my $entry = $run->{names}->get($name);
    return $entry if $entry;
    $entry = { name => $name, provided_by => [], replaced_by => [], dependents => [], state => 'not-installed', flags => 0 };
    $run->{names}->set($name, $entry);
    return $entry;
}

# What reading a stanza does to the names in it, even when its package is then left aside.
sub reading_hooks {
    my ($run) = @_;
    my $meet = sub { name_entry($run, $_->{name}) for map { @$_ } map { @{ $_ // [] } } @{ $_[0] }{qw(depends conflicts)} };
    return {
        name => sub {
            my $entry = $run->{names}->get($_[0]{name});
            $_[0]{flags} |= $FLAG->{needed} if $entry && $entry->{flags} & $FLAG->{needed};
        },
        Depends => $meet,
        Conflicts => $meet,
        Provides => sub { note_provided($run, $_[0]) },
        Replaces => sub { note_replaced($run, $_[0]) },
    };
}

sub note_provided {
    my ($run, $package) = @_;
    my $entry = note_itself($run, $package);
    for my $provided (map { name_entry($run, $_) } @{ $package->{provides} }) {
        $entry->{flags} |= $FLAG->{needed} if $provided->{flags} & $FLAG->{needed};
        push @{ $provided->{provided_by} }, $entry if !grep { $_ == $entry } @{ $provided->{provided_by} };
    }
    unshift @{ $package->{provides} }, $package->{name};
}

sub note_itself {
    my ($run, $package) = @_;
    my $entry = name_entry($run, $package->{name});
    $entry->{packages} //= [];
    push @{ $entry->{provided_by} }, $entry if !grep { $_ == $entry } @{ $entry->{provided_by} };
    for my $possibility (map { @$_ } map { @{ $_ // [] } } @{$package}{qw(depends conflicts)}) {
        name_entry($run, $possibility->{name})->{flags} |= $FLAG->{needed};
    }
    return $entry;
}

sub note_replaced {
    my ($run, $package) = @_;
    my $entry = name_entry($run, $package->{name});
    $entry->{packages} //= [];
    push @{ $entry->{provided_by} }, $entry;
    for my $replaced (map { name_entry($run, $_) } @{ $package->{replaces} }) {
        $replaced->{flags} |= $FLAG->{needed} if $package->{flags} & $FLAG->{needed};
        next if !grep { $_->{name} eq $replaced->{name} } map { @$_ } @{ $package->{conflicts} // [] };
        push @{ $replaced->{replaced_by} }, $entry if !grep { $_ == $entry } @{ $replaced->{replaced_by} };
    }
}

sub insert_package {
    my ($run, $package, $keeps_known_fields) = @_;
    my $entry = name_entry($run, $package->{name});
    $entry->{packages} //= [];
    $entry->{state} = $package->{state} if is_installed($package);
    note_itself($run, $package);
    push @{ $package->{provides} }, $package->{name} if !@{ $package->{provides} };
    for my $possibility (map { @$_ } @{ $package->{depends} // [] }) {
        push @{ name_entry($run, $possibility->{name})->{dependents} }, $entry;
    }
    my ($same) = grep { is_same($package, $entry->{packages}[$_]) } 0 .. $#{ $entry->{packages} };
    merge($package, $entry->{packages}[$same]) if defined $same && $keeps_known_fields;
    $entry->{packages}[ $same // @{ $entry->{packages} } ] = $package;
    $package->{entry} = $entry;
}

sub is_same {
    my ($package, $known) = @_;
    return 1 if $package->{want} eq 'deinstall' && $package->{flags} & $FLAG->{hold};
    return compare_versions($package->{version}, $known->{version}) == 0
        && ($package->{architecture} // '') eq ($known->{architecture} // '');
}

# Fields that a status file leaves out come from the list.
sub merge {
    my ($package, $known) = @_;
    for (qw(
        auto_installed source dest section maintainer description depends conflicts replaces filename local_file unpacked
        md5 sha256 size installed_size priority abiversion conffiles essential by_hand)) {
        $package->{$_} ||= $known->{$_} if $known->{$_};
    }
    $package->{origin} //= $known->{origin};
    $package->{provides} = $known->{provides} if @{ $package->{provides} } < 2;
}

sub load_file {
    my ($run, $path, $about) = @_;
    my @lines;
    if ($about->{origin} && $about->{origin}{gzip}) {
        @lines = split /^/, $run->{inflated}{$path} //= inflate($path);
    } elsif (open(my $file, '<', $path)) {
        @lines = <$file>;
    } else {
        system_failure('pkg_hash_add_from_file', "Failed to open $path");
        return 0;
    }
    my $hooks = reading_hooks($run);
    while (@lines) {
        my $package = read_stanza(\@lines, $hooks) or next;
        $package->{flags} |= $FLAG->{needed} if $about->{needed};
        next if !($package->{flags} & $FLAG->{needed});
        $package->{origin} = $about->{origin};
        $package->{dest} = $about->{dest};
        if (!priority($run, $package)) {
            notice("Package $package->{name} version " . version_text($package->{version}) . " has no valid architecture, ignoring.\n");
            next;
        }
        $about->{take} ? $about->{take}->($package) : insert_package($run, $package, defined $about->{dest});
    }
    return 1;
}

sub load_lists {
    my ($run, %about) = @_;
    for my $source (@{ $run->{sources} }) {
        my $path = "$run->{lists_dir}/$source->{name}";
        if (-e $path) { load_file($run, $path, { needed => 1, %about, origin => $source }) or return 0 }
    }
    return 1;
}

sub load_status {
    my ($run, %about) = @_;
    for my $dest (@{ $run->{destinations} }) {
        if (-e $dest->{status}) { load_file($run, $dest->{status}, { needed => 1, %about, dest => $dest }) or return 0 }
    }
    return 1;
}

sub load_needed_lists {
    my ($run) = @_;
    my $needed = -1;
    while (1) {
        load_lists($run, needed => 0);
        my $now = grep { $_->{flags} & $FLAG->{needed} } $run->{names}->values_in_order;
        return if $now == $needed || $now == 0;
        $needed = $now;
    }
}

sub each_listed_package {
    my ($run, $take) = @_;
    load_lists($run, take => $take);
}

sub all_packages { return map { @{ $_->{packages} // [] } } $_[0]{names}->values_in_order }

sub is_installed { return $_[0]{state} eq 'installed' || $_[0]{state} eq 'unpacked' }

sub installed_packages { return grep { is_installed($_) } all_packages($_[0]) }

# A name that no package has stands for its first provider.
sub installed_by_name {
    my ($run, $name, $dest) = @_;
    my $entry = $run->{names}->get($name) or return;
    my $packages = $entry->{packages} // ($entry->{provided_by}[0] // {})->{packages} // [];
    my ($found) = grep { is_installed($_) && (!$dest || $_->{dest} == $dest) } @$packages;
    return $found;
}

sub removable_by_name {
    my ($run, $name) = @_;
    return installed_by_name($run, $name, $run->{only_default_destination} ? $run->{default_destination} : undef);
}

sub priority {
    my ($run, $package) = @_;
    my ($known) = grep { $_->[0] eq ($package->{architecture} // '') } @{ $run->{architectures} };
    return $known && $known->[1] =~ /^(\d+)/ ? $1 : 0;
}

# In place: the file is emptied, then written block by block, so that another reader can see it short.
sub write_status {
    my ($run) = @_;
    return if !$run->{changes} || $run->{noaction};
    my %text = map { $_->{status} => '' } @{ $run->{destinations} };
    for my $package (all_packages($run)) {
        next if $package->{state} eq 'not-installed' && $package->{want} =~ /^(unknown|deinstall|purge)\z/;
        if (!$package->{dest}) {
            failure('opkg_conf_write_status_files', "Internal error: package $package->{name} has a NULL dest");
            next;
        }
        $text{ $package->{dest}{status} } .= write_status_stanza($package);
    }
    rewrite($_, $text{$_}) for sort keys %text;
    write_changed_lists($run, grep { $_->{flags} & $FLAG->{list_changed} } installed_packages($run));
}

1;
