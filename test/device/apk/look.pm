package apk::look;

# The commands that only look.
use strict;
use apk::archive;
use apk::catalogue;
use apk::database;
use apk::messages;
use apk::package;
use apk::version;
use later 'apk::download' => 'download';
use later 'apk::package_file' => 'open_package';
use later 'apk::files' => qw(owner_of path_in paths_of differs is_protected);

sub version {
    my ($run, @versions) = @_;
    if ($run->{check}) {
        my @wrong = grep { !is_version($_) } @versions;
        message($_) for @wrong;
        return scalar @wrong;
    }
    not_acted_out('version without -t or -c') if !$run->{test};
    return 1 if @versions != 2;
    if (grep { !is_version($_) } @versions) { return 1 }
    my $order = compare_versions(@versions);
    message($order < 0 ? '<' : $order > 0 ? '>' : '=');
    return 0;
}

sub list {
    my ($run, @patterns) = @_;
    for my $name (all_names($run)) {
        next if @patterns && !grep { matches($_, $name) } @patterns;
        my %seen;
        my @packages = grep { $_->{name} eq $name && !$seen{$_}++ } map { $_->{package} } providers_of($run, $name);
        @packages = grep { $_->{record} } @packages if $run->{only_installed} || $run->{manifest};
        @packages = grep { upgradable_from($run, $_) } @packages if $run->{only_upgradable};
        @packages = grep { is_available($run, $_) } @packages if $run->{only_available};
        print list_line($run, $_), "\n" for sort { compare_versions($a->{version}, $b->{version}) } @packages;
    }
    return 0;
}

sub matches {
    my ($glob, $name) = @_;
    my $pattern = join '', map { $_ eq '*' ? '.*' : $_ eq '?' ? '.' : quotemeta } split //, $glob;
    return $name =~ /\A$pattern\z/i;
}

sub list_line {
    my ($run, $package) = @_;
    return "$package->{name} $package->{version}" if $run->{manifest};
    return $package->{name} if apk::messages::is_quiet();
    my $origin = $package->{origin} // $package->{name};
    my $line = label($package) . " $package->{architecture} {$origin} ($package->{licence})";
    my $old = upgradable_from($run, $package);
    return $line . ($package->{record} ? ' [installed]' : $old ? ' [upgradable from: ' . label($old) . ']' : '');
}

sub info {
    my ($run, @names) = @_;
    return info_owners($run, @names) if $run->{who_owns};
    if ($run->{exists}) {
        my $missing = 0;
        for my $name (@names) { $run->{installed}{$name} ? print("$name\n") : $missing++ }
        return $missing;
    }
    if ($run->{contents}) { return info_contents($run, @names) }
    if (@names) { not_acted_out('info with a name and neither -e, -L nor -W') }
    print "$_->{name}\n" for installed_packages($run);
    return 0;
}

sub info_contents {
    my ($run, @names) = @_;
    for my $package (map { $run->{installed}{$_} // () } @names) {
        print label($package), " contains:\n";
        print "$_\n" for paths_of($package->{record});
        print "\n";
    }
    return grep({ !$run->{installed}{$_} } @names) ? 1 : 0;
}

sub info_owners {
    my ($run, @paths) = @_;
    my $missing = 0;
    for my $path (@paths) {
        my $owner = owner_of($run, $path =~ s{^/}{}r);
        if ($owner) { print "$path is owned by ", label($owner), "\n" }
        else { failure("$path: Could not find owner package"); $missing++ }
    }
    return $missing;
}

# With --system or --packages: files of packages that are changed (U) or gone (X). --system leaves out
# what its owner may change. Folders that are gone are not looked into.
sub audit {
    my ($run) = @_;
    not_acted_out('audit without --system or --packages') if !$run->{system} && !$run->{only_packages};
    for my $package (reverse installed_packages($run)) {
        for my $folder (grep { -d "$run->{root}/$_->{name}" } @{ $package->{record}{folders} }) {
            for my $file (@{ $folder->{files} }) {
                my $path = path_in($folder, $file);
                next if $run->{system} && is_protected($path);
                my $real = "$run->{root}/$path";
                my $mark = !-e $real && !-l $real ? 'X' : differs($run, $path, $file->{sum}) ? 'U' : next;
                print "$mark $path\n";
            }
        }
    }
    return 0;
}

sub verify {
    my ($run, @paths) = @_;
    my $wrong = 0;
    for my $path (@paths) {
        my ($bytes, $error) = download($run, $path);
        $error //= verify_bytes($run, $bytes);
        $wrong++ if defined $error;
        message("$path: " . ($error // 'OK'));
    }
    return $wrong;
}

# Any tar in a gzip stream is good, a package or not.
sub verify_bytes {
    my ($run, $bytes) = @_;
    my ($streams, $error) = gzip_streams($bytes);
    return $error // $BAD_FORMAT if !@$streams;
    my ($entries, $tar_error) = read_tar($streams->[0]{content});
    return $tar_error // $BAD_FORMAT if !@$entries;
    my ($opened) = open_package($bytes);
    return 'UNTRUSTED signature' if !$run->{allow_untrusted};
    return $opened ? $opened->{data_error} : $error;
}

1;
