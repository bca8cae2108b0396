package opkg::configuration;

# What opkg knows before it looks at a package: sources, destinations, architectures and options from its files, its
# lock and its temporary folder. With an offline root only ROOT/etc/opkg/*.conf is read, never ROOT/etc/opkg.conf.
use strict;
use exports qw(load_configuration unload_configuration make_folders temporary_name remove_tree);
use opkg::lock;
use opkg::messages;

my $DEFAULT_LISTS = '/usr/lib/opkg/lists';
my $DEFAULT_VERIFY_PROGRAM = '/usr/sbin/opkg-key';
my %OPTION = (
    (map { $_ => 'flag' } qw(
        force_defaults force_maintainer force_depends force_overwrite force_downgrade force_reinstall force_space
        force_postinstall force_checksum check_signature no_check_certificate test noaction download_only nodeps nocase
        query-all size strip_abi)),
    (map { $_ => 'text' } qw(
        cache ftp_proxy http_proxy http_timeout https_proxy no_proxy offline_root overlay_root proxy_passwd proxy_user
        tmp_dir verify_program)),
    verbosity => 'number',
);

# Returns true when opkg may go on; the lock is held from then on.
sub load_configuration {
    my ($run) = @_;
    $run->{offline_root} //= $ENV{OFFLINE_ROOT};
    return 0 if !read_files($run);
    $run->{lock} = take_lock(($run->{offline_root} // '') . (defined $run->{offline_root} ? '/' : '') . '/var/lock/opkg.lock');
    return 0 if !$run->{lock};
    my $base = $run->{tmp_dir} // $ENV{TMPDIR} // '/tmp';
    $run->{tmp_dir} = temporary_name("$base/opkg-");
    if (!mkdir $run->{tmp_dir}, 0700) {
        system_failure('opkg_conf_load', "Creating temp dir $run->{tmp_dir} failed");
        release_lock($run->{lock});
        return 0;
    }
    settle($run);
    return 1 if resolve_destinations($run);
    rmdir $run->{tmp_dir};
    release_lock($run->{lock});
    return 0;
}

sub unload_configuration {
    my ($run) = @_;
    remove_tree($run->{tmp_dir});
    release_lock($run->{lock});
}

sub read_files {
    my ($run) = @_;
    if (defined $run->{conf_file}) {
        if (!-e $run->{conf_file}) {
            system_failure('opkg_conf_load', "Couldn't stat $run->{conf_file}");
            return 0;
        }
        return 0 if !read_file($run, $run->{conf_file});
    }
    my $folder = defined $run->{offline_root} ? "$run->{offline_root}/etc/opkg" : $ENV{OPKG_CONF_DIR} // '/etc/opkg';
    opendir(my $listing, $folder) or return 1;
    for my $name (sort grep { /^[^.].*\.conf\z/s } readdir $listing) {
        next if defined $run->{conf_file} && $run->{conf_file} eq "$folder/$name";
        return 0 if !read_file($run, "$folder/$name");
    }
    return 1;
}

sub read_file {
    my ($run, $path) = @_;
    if (!open(my $file, '<', $path)) {
        system_failure('opkg_conf_parse_file', "Failed to open $path");
        return 0;
    } else {
        while (my $line = <$file>) {
            chomp $line;
            read_line($run, $line, "$path:$.") if $line !~ /^\s*(#.*)?$/;
        }
    }
    return 1;
}

sub read_line {
    my ($run, $line, $place) = @_;
    my $word = qr/"([^"]*)"|(\S*)/;
    my @groups = $line =~ /^\s*(?:$word)\s*(?:$word)\s*(?:$word)(?:\s+\S+)?(?:\s+(.*?))?\s*$/;
    my ($type, $name, $value) = map { $groups[$_] // $groups[ $_ + 1 ] // '' } 0, 2, 4;
    if (length($groups[6] // '') && $type !~ /^dist/) {
        return failure('opkg_conf_parse_file', "$place: Ignoring config line with trailing garbage: `$line'");
    }
    if ($type eq 'option') { return set_option($run, $name, $value) }
    if ($type eq 'src' || $type eq 'src/gz') { return add_source($run, { name => $name, url => $value, gzip => $type eq 'src/gz' }) }
    if ($type eq 'dest') { push @{ $run->{destinations} }, [$name, $value]; return }
    if ($type eq 'lists_dir') { $run->{lists_dir} = $value; return }
    if ($type eq 'arch') { push @{ $run->{architectures} }, [$name, $value]; return }
    failure('opkg_conf_parse_file', "$place: Ignoring invalid line: `$line'");
}

sub add_source {
    my ($run, $source) = @_;
    if (grep { $_->{name} eq $source->{name} } @{ $run->{sources} }) {
        return failure('opkg_conf_parse_file', "Duplicate src declaration ($source->{name} $source->{url}). Skipping.");
    }
    push @{ $run->{sources} }, $source;
}

sub set_option {
    my ($run, $name, $value) = @_;
    my $kind = $OPTION{$name} or return failure('opkg_conf_set_option', "Unrecognized option: $name=$value");
    my $key = { test => 'noaction', 'query-all' => 'query_all' }->{$name} // $name;
    if ($kind eq 'flag') {
        if ($run->{$key}) { return failure('opkg_conf_set_option', "Duplicate boolean option $name, leaving this option on.") }
        $run->{$key} = 1;
    } elsif (defined $run->{$key} || $kind eq 'number') {
        failure('opkg_conf_set_option', "Duplicate option $name, using first seen value \"" . ($run->{$key} // 1) . '".');
    } else {
        $run->{$key} = $value;
    }
}

sub settle {
    my ($run) = @_;
    $run->{lists_dir} //= $DEFAULT_LISTS;
    $run->{lists_dir} = "$run->{offline_root}/$run->{lists_dir}" if defined $run->{offline_root};
    $run->{verify_program} //= $DEFAULT_VERIFY_PROGRAM;
    if (!@{ $run->{architectures} }) {
        $run->{architectures} = [['all', 1], ['noarch', 1], [scalar(`uname -m`) =~ s/\s+//gr, 10]];
    }
    $run->{destinations} = [['root', '/']] if !@{ $run->{destinations} };
}

sub resolve_destinations {
    my ($run) = @_;
    my @resolved;
    for (@{ $run->{destinations} }) {
        my ($name, $path) = @$_;
        my $root = ($run->{offline_root} // '') . $path;
        $root .= '/' if $root !~ m{/\z};
        my $state = "$root/usr/lib/opkg";
        my $destination = { name => $name, root => $root, info => "$state/info", status => "$state/status" };
        make_folders($_) for $destination->{info}, $run->{lists_dir} =~ s{^(?=[^/])}{/}r;
        push @resolved, $destination;
    }
    $run->{destinations} = \@resolved;
    $run->{default_destination} = $resolved[0];
    return 1 if !defined $run->{dest};
    my ($wanted) = grep { $_->{name} eq $run->{dest} } @resolved;
    if (!$wanted) { failure('resolve_pkg_dest_list', "Unknown dest name: `$run->{dest}'."); return 0 }
    $run->{default_destination} = $wanted;
    $run->{only_default_destination} = 1;
    return 1;
}

sub make_folders {
    my ($path) = @_;
    return 1 if -d $path;
    my ($parent) = $path =~ m{^(.+?)/+[^/]+/*\z}s;
    make_folders($parent) if defined $parent;
    return mkdir $path;
}

sub temporary_name {
    my ($start) = @_;
    my @signs = ('a' .. 'z', 'A' .. 'Z', 0 .. 9);
    return $start . join '', map { $signs[rand @signs] } 1 .. 6;
}

sub remove_tree {
    my ($path) = @_;
    if (opendir(my $listing, $path)) {
        for (grep { !/^\.\.?\z/ } readdir $listing) {
            my $entry = "$path/$_";
            -d $entry && !-l $entry ? remove_tree($entry) : unlink $entry;
        }
    }
    rmdir $path;
}

1;
