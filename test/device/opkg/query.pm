package opkg::query;

# The sub-commands that only look. They take the lock all the same.
use strict;
use exports qw(
    list find list_installed list_upgradable list_changed_conffiles info status files search download_to_here
    compare print_architecture);
use opkg::catalogue;
use opkg::messages;
use opkg::pattern;
use opkg::stanza;
use opkg::version;
use later 'opkg::candidate' => 'best_by_name';
use later 'opkg::conffiles' => 'is_modified';
use later 'opkg::download' => 'download_package';
use later 'opkg::files' => qw(files_of learn_owners);

sub list { return list_or_find(@_[0, 1], sub { $_[1] =~ $_[0] }) }

sub find { return list_or_find(@_[0, 1], sub { $_[1] =~ $_[0] || defined $_[2] && $_[2] =~ $_[0] }) }

# What the lists have, then what is installed and in none of them; sorted by name.
sub list_or_find {
    my ($run, $glob, $matches) = @_;
    my $pattern = name_pattern($run, $glob // '*');
    my (@found, %listed);
    my $fits = sub { $matches->($pattern, $_[0]{name}, $_[0]{description}) };
    each_listed_package($run, sub { if ($fits->($_[0])) { push @found, $_[0]; $listed{ $_[0]{name} } = 1 } });
    load_status($run, take => sub { push @found, $_[0] if $fits->($_[0]) && !$listed{ $_[0]{name} }++ });
    print_line($run, $_) for sort { $a->{name} cmp $b->{name} } @found;
    return 0;
}

sub list_installed {
    my ($run, $glob) = @_;
    print_line($run, $_) for matching_installed($run, $glob);
    return 0;
}

sub matching_installed {
    my ($run, $glob) = @_;
    my $pattern = name_pattern($run, $glob // '*');
    return sort { $a->{name} cmp $b->{name} } grep { $_->{name} =~ $pattern } installed_packages($run);
}

sub print_line {
    my ($run, $package) = @_;
    my ($name, $abi) = @$package{qw(name abiversion)};
    substr($name, -length $abi) = '' if $run->{strip_abi} && defined $abi && $name =~ /.\Q$abi\E\z/;
    my @parts = ($name, version_text($package->{version}));
    push @parts, $package->{size} // 0 if $run->{size};
    push @parts, $package->{description} if defined $package->{description} && length $package->{description};
    say_text(join(' - ', @parts) . "\n");
}

sub list_upgradable {
    my ($run) = @_;
    learn_owners($run, installed_packages($run));
    my @behind = grep {
        my $best = best_by_name($run, $_->{name});
        $best && compare_versions($_->{version}, $best->{version}) < 0;
    } installed_packages($run);
    for my $old (@behind) {
        my $new = best_by_name($run, $old->{name}) or next;
        say_text("$old->{name} - " . version_text($old->{version}) . ' - ' . version_text($new->{version}) . "\n");
    }
    return 0;
}

sub list_changed_conffiles {
    my ($run, $glob) = @_;
    for my $conffile (map { @{ $_->{conffiles} // [] } } matching_installed($run, $glob)) {
        say_text("$conffile->[0]\n") if is_modified($run, $conffile);
    }
    return 0;
}

sub info { return print_stanzas(@_[0, 1], all_packages($_[0])) }

sub status { return print_stanzas(@_[0, 1], installed_packages($_[0])) }

sub print_stanzas {
    my ($run, $glob, @packages) = @_;
    my $pattern = name_pattern($run, $glob // '*');
    for my $package (grep { $_->{name} =~ $pattern } @packages) {
        say_text(write_info_stanza($package));
        # Said only at higher levels; what shows is the complaint about a file that is gone.
        is_modified($run, $_) for @{ $package->{conffiles} // [] };
    }
    return 0;
}

sub files {
    my ($run, $name) = @_;
    my $package = installed_by_name($run, $name);
    if (!$package) { failure('opkg_files_cmd', "Package $name not installed."); return 0 }
    my @files = files_of($run, $package);
    my $version = version_text($package->{version});
    say_text("Package $package->{name} ($version) is installed on $package->{dest}{name} and has the following files:\n");
    say_text("$_\n") for @files;
    return 0;
}

sub search {
    my ($run, $glob) = @_;
    my $pattern = name_pattern($run, $glob);
    for my $package (matching_installed($run)) { print_line($run, $package) for grep { $_ =~ $pattern } files_of($run, $package) }
    return 0;
}

sub download_to_here {
    my ($run, @names) = @_;
    $run->{arguments} = \@names;
    learn_owners($run, installed_packages($run));
    my $code = 0;
    for my $name (@names) {
        my $package = best_by_name($run, $name);
        if (!$package) { failure('opkg_download_cmd', "Cannot find package $name."); next }
        $code = 255 if !download_package($run, $package, '.');
        if ($code) { failure('opkg_download_cmd', "Failed to download $package->{name}."); next }
        notice("Downloaded $package->{name} as $package->{local_file}.\n");
    }
    return $code;
}

# "<" and ">" mean "or equal".
sub compare {
    my ($run, @words) = @_;
    if (@words != 3) {
        failure('opkg_compare_versions_cmd', "opkg compare_versions <v1> <op> <v2>\n<op> is one of <= >= << >> =");
        return 255;
    }
    my $order = compare_versions(map { read_version($_) } @words[0, 2]);
    my %holds = (
        '<=' => $order <= 0, '<' => $order <= 0, '>=' => $order >= 0, '>' => $order >= 0,
        '<<' => $order < 0, '>>' => $order > 0, '=' => $order == 0,
    );
    failure('pkg_version_satisfied', "Unknown operator: $words[1].") if !exists $holds{ $words[1] };
    return $holds{ $words[1] } ? 0 : 1;
}

sub print_architecture {
    my ($run) = @_;
    say_text("arch $_->[0] $_->[1]\n") for @{ $run->{architectures} };
    return 0;
}

1;
