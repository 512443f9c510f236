package ctl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func (t *tool) storageCommand() *cobra.Command {
	return group("storage", "The store itself", t.initAuth())
}

// The roles that init-auth makes: daemons read, operators write.
const (
	daemonRole   = "levee-daemon"
	operatorRole = "levee-operator"
)

// account is a user of etcd, with the file that has the password.
type account struct{ user, passwordFile string }

func (a account) complete() bool { return a.user != "" && a.passwordFile != "" }

// authStep is one thing that init-auth does.
type authStep struct {
	// command is what etcdctl would be told.
	command string
	do      func(ctx context.Context, c *clientv3.Client) error
}

func (t *tool) initAuth() *cobra.Command {
	var daemon, operator account
	var rootFile string
	var enable, dry bool
	cmd := &cobra.Command{
		Use:   "init-auth --daemon-user NAME --daemon-password-file FILE --operator-user NAME --operator-password-file FILE",
		Short: "Create etcd's roles and users for Levee",
		Long: `Init-auth makes two roles in etcd, ` + daemonRole + `, which reads below storage-prefix, and
` + operatorRole + `, which reads and writes there, and a user of each. What is there already is
kept. With --enable it also makes the user root, and turns authentication on: from then
on nobody gets in without a password. With --dry-run it only prints what etcdctl would
be told.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !daemon.complete() || !operator.complete():
				return usage("give --daemon-user, --daemon-password-file, --operator-user and --operator-password-file")
			case enable && rootFile == "":
				return usage("--enable needs --root-password-file")
			}
			o, err := t.storage()
			if err != nil {
				return err
			}
			conf, ok := o.Etcd()
			if !ok {
				return usage("storage-addrs is a file: only etcd has users")
			}
			steps, err := authSteps(strings.TrimRight(o.Prefix, "/")+"/", daemon, operator, rootFile, enable)
			if err != nil {
				return err
			}
			if dry {
				for _, s := range steps {
					if _, err := fmt.Fprintln(t.out, s.command); err != nil {
						return fmt.Errorf("output: %w", err)
					}
				}
				return nil
			}
			conf.Timeout = t.loaded.Timeout
			client, err := conf.Dial(cmd.Context())
			if err != nil {
				return fmt.Errorf("etcd at %s: %w", strings.Join(conf.Endpoints, ", "), err)
			}
			defer func() { _ = client.Close() }()
			return t.takeSteps(cmd.Context(), client, steps)
		},
	}
	f := cmd.Flags()
	f.StringVar(&daemon.user, "daemon-user", "", "User `NAME` that the daemons log in as")
	f.StringVar(&daemon.passwordFile, "daemon-password-file", "", "`FILE` with its password")
	f.StringVar(&operator.user, "operator-user", "", "User `NAME` that leveectl logs in as")
	f.StringVar(&operator.passwordFile, "operator-password-file", "", "`FILE` with its password")
	f.StringVar(&rootFile, "root-password-file", "", "`FILE` with the password of root, for --enable")
	f.BoolVar(&enable, "enable", false, "Turn authentication on")
	f.BoolVar(&dry, "dry-run", false, "Only print what etcdctl would be told")
	return cmd
}

// takeSteps does one after the other. What is there already is no failure.
func (t *tool) takeSteps(ctx context.Context, client *clientv3.Client, steps []authStep) error {
	for _, s := range steps {
		err := func() error {
			ctx, cancel := context.WithTimeout(ctx, t.loaded.Timeout)
			defer cancel()
			return s.do(ctx, client)
		}()
		switch {
		case errors.Is(err, rpctypes.ErrRoleAlreadyExist), errors.Is(err, rpctypes.ErrUserAlreadyExist):
			t.note("there already: %s", s.command)
		case err != nil:
			return fmt.Errorf("%s: %w", s.command, err)
		default:
			t.note("done: %s", s.command)
		}
	}
	return nil
}

// authSteps lists what there is to do. It reads the password files.
func authSteps(root string, daemon, operator account, rootFile string, enable bool) ([]authStep, error) {
	steps := []authStep{
		role(daemonRole), grant(daemonRole, "read", clientv3.PermissionType(clientv3.PermRead), root),
		role(operatorRole), grant(operatorRole, "readwrite", clientv3.PermissionType(clientv3.PermReadWrite), root),
	}
	accounts := []struct {
		account
		role string
	}{{daemon, daemonRole}, {operator, operatorRole}}
	if enable {
		accounts = append(accounts, struct {
			account
			role string
		}{account{"root", rootFile}, "root"})
		steps = append(steps, role("root"))
	}
	for _, a := range accounts {
		add, err := user(a.account)
		if err != nil {
			return nil, err
		}
		steps = append(steps, add, authStep{
			fmt.Sprintf("etcdctl user grant-role %s %s", a.user, a.role),
			func(ctx context.Context, c *clientv3.Client) error {
				_, err := c.UserGrantRole(ctx, a.user, a.role)
				return err
			},
		})
	}
	if enable {
		steps = append(steps, authStep{"etcdctl auth enable", func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.AuthEnable(ctx)
			return err
		}})
	}
	return steps, nil
}

func role(name string) authStep {
	return authStep{"etcdctl role add " + name, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.RoleAdd(ctx, name)
		return err
	}}
}

func grant(role, word string, kind clientv3.PermissionType, root string) authStep {
	return authStep{
		fmt.Sprintf("etcdctl role grant-permission %s %s %s --prefix=true", role, word, root),
		func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.RoleGrantPermission(ctx, role, root, clientv3.GetPrefixRangeEnd(root), kind)
			return err
		},
	}
}

func user(a account) (authStep, error) {
	text, err := os.ReadFile(a.passwordFile)
	if err != nil {
		return authStep{}, fmt.Errorf("password of %s: %w", a.user, err)
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return authStep{}, fmt.Errorf("password of %s: %s is empty", a.user, a.passwordFile)
	}
	return authStep{
		fmt.Sprintf("etcdctl user add %s --interactive=false < %s", a.user, a.passwordFile),
		func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.UserAdd(ctx, a.user, password)
			return err
		},
	}, nil
}
