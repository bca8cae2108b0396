package apk::commit;

# Carries a plan out and counts what went wrong. Each package of the plan that was marked broken and
# is not mended counts, too, those included that stay as they are.
use strict;
use exports qw(commit_world commit_plan);
use apk::catalogue;
use apk::database;
use apk::dependency;
use apk::messages;
use apk::package;
use apk::plan;
use apk::progress;
use apk::repositories;
use apk::script;
use apk::solver;
use apk::version;
use later 'apk::database_files' => 'write_database';
use later 'apk::download' => 'open_download';
use later 'apk::install' => 'install_change';
use later 'apk::overview' => qw(print_overview count_folders count_files);
use later 'apk::solver_errors' => 'print_solver_errors';

# The exit code. `flags` and `reinstall` by name.
sub commit_world {
    my ($run, $world, $flags, $reinstall) = @_;
    if (my @tagged = grep { defined $_->{tag} && !has_tag($run, $_->{tag}) } @$world) {
        warning('The repository tag for world dependency \'' . dependency_text($_) . '\' does not exist') for @tagged;
        give_up('Not committing changes due to missing repository tags.');
    }
    my $solution = solve_world($run, $world, $flags);
    return print_solver_errors($run, $solution) if @{ $solution->{errors} };
    return commit_plan($run, $solution, $reinstall);
}

sub has_tag {
    my ($run, $tag) = @_;
    return grep { $_->{tags}{$tag} } @{ $run->{feeds} };
}

# With force-broken-world, what cannot be met is left out of the request, but stays in world.
sub solve_world {
    my ($run, $world, $flags) = @_;
    $run->{next_world} = $world;
    my $solution = solve($run, $world, $flags);
    return $solution if !$run->{force_broken_world} || !@{ $solution->{errors} };
    my %broken = map { $_->{name} => 1 } @{ $solution->{errors} };
    return solve($run, [grep { !$broken{ $_->{name} } } @$world], $flags);
}

sub commit_plan {
    my ($run, $solution, $reinstall) = @_;
    my @changes = @{ plan_changes($run, $solution, $reinstall // {}) };
    my @visible = grep { is_change($_) } @changes;
    my $packages = @visible;
    print_overview($run, @changes) if $run->{verbose};
    if ($run->{cache_predownload} && !fetch_ahead($run, @visible)) { return 99 }
    return 99 if !run_hooks($run, 'pre-commit');
    my $progress = start_progress($run, 'install', map { change_size($_) } @visible);
    $_->{old}{is_leaving} = 1 for grep { $_->{old} && (!$_->{new} || $_->{new} != $_->{old}) } @changes;
    my ($errors, $number) = (0, 0);
    my $digits = length $packages;
    for my $change (@changes) {
        my $is_broken = $change->{old} && grep { $change->{old}{record}{flags}{$_} } qw(f s);
        if (is_change($change)) {
            message(sprintf("(%${digits}d/%d) %s", ++$number, $packages, change_text($run, $change)));
            $is_broken = !install_change($run, $change) if !$run->{simulate} && !is_skipped($run, $change);
            end_progress_item($progress, change_size($change));
        }
        $errors++ if $is_broken;
    }
    $errors += run_triggers($run, map { $_->{new} // () } @changes);
    $run->{world} = $run->{next_world};
    $errors++ if !$run->{simulate} && !write_database($run);
    run_hooks($run, 'post-commit');
    print_summary($run, $errors, @changes);
    return $errors;
}

sub is_change { return $_[0]{reinstall} || ($_[0]{old} // 0) != ($_[0]{new} // 0) }

sub change_size {
    my ($change) = @_;
    return $change->{new} ? $change->{new}{size} // 0 : int(($change->{old}{size} // 0) / 16);
}

sub is_skipped {
    my ($run, $change) = @_;
    return 0 if !$change->{new} || !$change->{old} || $change->{new} != $change->{old};
    return !is_available($run, $change->{new}) && !defined $change->{new}{file} && !defined $change->{new}{cached};
}

sub change_text {
    my ($run, $change) = @_;
    my ($old, $new) = @$change{qw(old new)};
    return "Installing $new->{name} ($new->{version})" if !$old;
    return "Purging $old->{name} ($old->{version})" if !$new;
    if ($old == $new) {
        my $remark = is_skipped($run, $change) ? '[APK unavailable, skipped] ' : '';
        return "${remark}Reinstalling $new->{name} ($new->{version})";
    }
    my $order = compare_versions($new->{version}, $old->{version});
    my $verb = $order < 0 ? 'Downgrading' : $order > 0 ? 'Upgrading' : 'Replacing';
    return "$verb $new->{name} ($old->{version} -> $new->{version})";
}

# Loads all packages into the cache and checks them. False if one is not good: then nothing changes.
sub fetch_ahead {
    my ($run, @changes) = @_;
    my @wanted = grep { needs_fetch($run, $_) } map { $_->{new} // () } @changes;
    return 1 if !@wanted;
    message('Downloading ' . @wanted . ' packages...');
    my $progress = start_progress($run, 'download', map { $_->{size} } @wanted);
    my ($number, $errors, $digits) = (0, 0, length scalar @wanted);
    for my $package (@wanted) {
        message(sprintf("(%${digits}d/%d) Downloading %s", ++$number, scalar @wanted, label($package)));
        my $error = $run->{simulate} ? undef : fetch_into_cache($run, $package);
        if (defined $error) { failure(label($package) . ": $error"); $errors++ }
        end_progress_item($progress, $package->{size});
    }
    message('Proceeding with upgrade...') if !$errors;
    return !$errors;
}

sub needs_fetch {
    my ($run, $package) = @_;
    return 0 if defined $package->{cached} || !($package->{installed_size} // 0);
    return 1 if defined $package->{file};
    return grep { !$_->{is_local} && $_->{is_reachable} } feeds_of($run, $package);
}

sub fetch_into_cache {
    my ($run, $package) = @_;
    my ($opened, $error, $bytes) = open_download($run, $package);
    return $error if defined $error;
    return 'v2 package integrity error' if $opened->{identity} ne $package->{identity};
    return $opened->{data_error} if defined $opened->{data_error};
    my $path = cache_folder($run) . '/' . cache_name($package);
    return "$!" if !store_file($path, $bytes);
    $package->{cached} = $path;
    return;
}

sub print_summary {
    my ($run, $errors, @changes) = @_;
    my ($bytes, $count) = (installed_bytes($run), scalar installed_packages($run));
    if ($run->{simulate}) {
        for (@changes) {
            if ($_->{new}) { $bytes += $_->{new}{installed_size} // 0; $count++ }
            if ($_->{old}) { $bytes -= $_->{old}{installed_size} // 0; $count-- }
        }
    }
    my $head = !$errors ? 'OK:' : $errors == 1 ? '1 error;' : "$errors errors;";
    my $size = human_size($bytes);
    return message("$head $size in $count packages") if !$run->{verbose};
    my ($folders, $files) = (count_folders($run), count_files($run));
    message("$head $count packages, $folders dirs, $files files, $size");
}

1;
