package apk::overview;

# What --verbose tells before the changes: once, what goes or goes back; twice, all and the sizes.
use strict;
use exports qw(print_overview count_folders count_files);
use apk::catalogue;
use apk::database;
use apk::messages;
use apk::version;

sub print_overview {
    my ($run, @changes) = @_;
    my @sorted = sort { name_of($a) cmp name_of($b) } @changes;
    my @unlisted = grep { $_->{new} && !keys %{ $_->{new}{feeds} } && !has_offers($run, $_->{new}) } @sorted;
    message('NOTE: Consider running apk upgrade with --prune and/or --available.') if @unlisted;
    print_words('The following packages are no longer available from a repository', map { $_->{new}{name} } @unlisted);
    my $count = print_group('The following packages will be REMOVED', grep { !$_->{new} } @sorted);
    $count += print_group('The following packages will be DOWNGRADED', grep { order($_) < 0 } @sorted);
    return if !$count && $run->{verbose} < 2;
    print_group('The following NEW packages will be installed', grep { !$_->{old} } @sorted);
    my @replaced = grep { $_->{new} && $_->{old} && $_->{new} != $_->{old} } @sorted;
    print_group('The following packages will be upgraded', grep { order($_) >= 0 } @replaced);
    print_group('The following packages will be reinstalled', grep { $_->{reinstall} } @sorted);
    print_sizes(@changes);
}

sub name_of { return ($_[0]{old} // $_[0]{new})->{name} }

sub has_offers {
    my ($run, $package) = @_;
    return grep { keys %{ $_->{package}{feeds} } } providers_of($run, $package->{name});
}

# Of an upgrade positive, of what is no such change zero.
sub order {
    my ($change) = @_;
    return 0 if !$change->{old} || !$change->{new};
    return compare_versions($change->{new}{version}, $change->{old}{version});
}

sub print_words {
    my ($head, @words) = @_;
    message("$head:\n  @words") if @words;
}

sub print_group {
    my ($head, @changes) = @_;
    return 0 if !@changes;
    message("$head:");
    for my $change (@changes) {
        my ($old, $new) = @$change{qw(old new)};
        my $is_other = $old && $new && !$change->{reinstall};
        my $versions = $is_other ? "$old->{version} -> $new->{version}" : ($old // $new)->{version};
        message('  ' . ($new // $old)->{name} . " ($versions)");
    }
    return scalar @changes;
}

sub print_sizes {
    my (@changes) = @_;
    my ($download, $growth) = (0, 0);
    for (@changes) {
        $growth += $_->{new}{installed_size} // 0 if $_->{new};
        $growth -= $_->{old}{installed_size} // 0 if $_->{old};
        $download += $_->{new}{size} // 0 if $_->{new} && $_->{new} != ($_->{old} // 0);
    }
    message('Need to download ' . human_size($download) . ' of packages.') if $download;
    message('After this operation, ' . human_size(abs $growth) . ' of '
        . ($growth < 0 ? 'disk space will be freed.' : 'additional disk space will be used.'));
}

sub count_folders {
    my ($run) = @_;
    my %names = map { $_->{name} => 1 } map { @{ $_->{record}{folders} } } installed_packages($run);
    $names{''} = 1;
    return scalar keys %names;
}

sub count_files {
    my ($run) = @_;
    my $count = 0;
    $count += @{ $_->{files} } for map { @{ $_->{record}{folders} } } installed_packages($run);
    return $count;
}

1;
