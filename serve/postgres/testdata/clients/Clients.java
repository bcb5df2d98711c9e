import java.sql.*;
import java.util.Properties;

/** Asks the server under test through JDBC. Usage: java -cp JAR Clients.java HOST PORT PASSWORD */
class Clients {
    static void check(String what, Object got, Object want) {
        if (!got.equals(want)) {
            throw new AssertionError(what + ": " + got + ", not " + want);
        }
    }

    public static void main(String[] args) throws Exception {
        Properties p = new Properties();
        p.setProperty("user", "anna");
        p.setProperty("password", args[2]);
        p.setProperty("options", "-c discreet.rho=0.0001");
        try (Connection c = DriverManager.getConnection("jdbc:postgresql://" + args[0] + ":" + args[1] + "/discreet", p)) {
            for (int i = 0; i < 7; i++) { // it prepares what it sees often
                try (PreparedStatement s = c.prepareStatement("SELECT department, count(*) AS visits FROM visits WHERE age > ? GROUP BY department")) {
                    s.setInt(1, 30);
                    int n = 0;
                    try (ResultSet r = s.executeQuery()) {
                        while (r.next()) {
                            r.getLong("visits");
                            n++;
                        }
                    }
                    check("groups", n, 8);
                }
            }
            c.setAutoCommit(false);
            try (Statement s = c.createStatement()) {
                s.setFetchSize(3);
                int n = 0;
                try (ResultSet r = s.executeQuery("SELECT name FROM departments ORDER BY name")) {
                    while (r.next()) {
                        n++;
                    }
                }
                check("portions", n, 8);
            }
            c.rollback();
            try (ResultSet r = c.getMetaData().getColumns(null, "public", "visits", "%")) {
                int n = 0;
                while (r.next()) {
                    n++;
                }
                check("columns", n, 6);
            }
            try (Statement s = c.createStatement()) {
                s.executeQuery("SELECT count(*) FROM visit");
                throw new AssertionError("an unknown table was answered");
            } catch (SQLException e) {
                check("state", e.getSQLState(), "42P01");
            }
        }
        System.out.println("JDBC");
    }
}
